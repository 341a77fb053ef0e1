/* mischief SECONDS SEED: for so long does in turn, by chance, what makes a recorder's life hard: many
 * mappings, code without a file under a perf map of garbage, names of control characters, children and
 * threads without end, exec of itself under another name, files deleted while they run, another user or root
 * directory where it may. Bounded in processes and memory. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop_code.h"
#include "spin.h"

static uint64_t g_state;
static uint64_t chance(uint64_t most) {
  g_state = g_state * 6364136223846793005u + 1442695040888963407u;
  return (g_state >> 33) % most;
}

static void burn(void) { (void)turn(200000, chance(100) + 1); }

static void map_much(void) {
  int self = open("/proc/self/exe", O_RDONLY);
  size_t count = 1 + chance(3000);
  char* first = NULL;
  for (size_t i = 0; i < count; ++i) {
    char* page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, self, chance(4) * 4096);
    if (page != MAP_FAILED && chance(2) == 0) munmap(page, 4096);
    if (first == NULL) first = page;
  }
  close(self);
  burn();
}

static void run_jit(void) {
  if (sizeof kCode < 2) return;
  char* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  memcpy(page, kCode, sizeof kCode);
  __builtin___clear_cache(page, page + 4096);
  char name[64];
  snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
  FILE* map = fopen(name, "w");
  for (int i = 0; map != NULL && i < 200; ++i)
    fprintf(map, "%lx %llx \033]0;%c\xff%s\n", (unsigned long)page + i, 1ull << chance(64), (char)chance(256),
            chance(2) ? "name" : "");
  if (map != NULL) fclose(map);
  for (int i = 0; i < 50; ++i) ((void (*)(void))page)();
  if (chance(2) == 0) munmap(page, 4096);
  unlink(name);
}

static void change_name(void) {
  char name[16];
  for (int i = 0; i < 15; ++i) name[i] = (char)(1 + chance(255));
  name[15] = 0;
  for (int i = 0; i < 200; ++i) name[0] = (char)(1 + i), prctl(PR_SET_NAME, name);
  burn();
}

static void* end_at_once(void* unused) {
  burn();
  return unused;
}

static void start_threads(void) {
  pthread_t threads[16];
  int count = 0;
  for (; count < 16 && pthread_create(&threads[count], NULL, end_at_once, NULL) == 0; ++count) continue;
  while (count > 0) pthread_join(threads[--count], NULL);
}

static void fork_much(void) {
  for (int i = 0; i < 40; ++i)
    if (fork() == 0) {
      if (chance(4) == 0) burn();
      if (chance(8) == 0) abort();
      _exit(0);
    }
  while (wait(NULL) > 0) continue;
}

static void run_deleted(void) {
  char name[64], command[256];
  snprintf(name, sizeof name, "/tmp/mischief-%d", (int)getpid());
  snprintf(command, sizeof command, "cp /proc/%d/exe %s; %s 0 0 & rm %s; wait", (int)getpid(), name, name,
           name);
  if (system(command) != 0) burn();
}

static void lose_rights(void) {
  if (fork() == 0) {
    if (chance(2) == 0 && chroot("/tmp") == 0 && chdir("/") == 0) burn();
    if (chance(2) == 0 && unshare(CLONE_NEWNS | CLONE_NEWUSER) == 0) burn();
    if (setgid(65534) == 0 && setuid(65534) == 0) burn();
    for (int i = 0; i < 100; ++i) burn();
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
}

static void become_another(char** argv, double left) {
  char seconds[32], seed[32];
  snprintf(seconds, sizeof seconds, "%g", left);
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)g_state >> 8);
  char odd[] = "\033[31m\nodd \xff";
  argv[0] = odd;
  execve("/proc/self/exe", (char*[]){odd, seconds, seed, NULL}, NULL);
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_state = strtoull(argv[2], NULL, 10) + 1;
  uint64_t start = now_ns(CLOCK_MONOTONIC), all = (uint64_t)(atof(argv[1]) * 1e9);
  if (all == 0) burn();
  static void (*const kActs[])(void) = {map_much,  run_jit,     change_name, start_threads,
                                        fork_much, run_deleted, lose_rights};
  for (uint64_t past; (past = now_ns(CLOCK_MONOTONIC) - start) < all;) {
    uint64_t act = chance(sizeof kActs / sizeof *kActs + 1);
    if (act < sizeof kActs / sizeof *kActs)
      kActs[act]();
    else
      become_another(argv, (double)(all - past) * 1e-9);
  }
  return 0;
}
