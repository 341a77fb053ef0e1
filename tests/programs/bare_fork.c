/* bare_fork syscall|clone|calls|nested|exits SECONDS: a child that fork(3) has not made, so that no handler
 * of pthread_atfork(3) knows of it, spins for so long. syscall: made by syscall(SYS_clone). clone: by
 * clone(3), and it calls nothing. calls: the same, but it calls prctl(2) first. nested: as clone, and process
 * 1 of a pid namespace inside of one whose process 1 has made it. exits: it ends by exit(3) at once, and its
 * parent spins for so long after that. 77: the system does not allow it. */
#define _GNU_SOURCE
#include "spin.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static double g_seconds;
static const char* g_how;
static char g_stack[1 << 16] __attribute__((aligned(16)));

__attribute__((noinline)) uint64_t spin_forked(uint64_t value) { return turn(20000, value); }

static int child(void* unused) {
  (void)unused;
  if (strcmp(g_how, "exits") == 0) exit(0);
  if (strcmp(g_how, "calls") == 0) prctl(PR_SET_NAME, "calls");
  uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) value = spin_forked(value);
  _exit(0);
}

static int wait_for(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && status == 0 ? 0 : 1;
}

static int by_clone(int flags) {
  const pid_t pid = clone(child, g_stack + sizeof g_stack, flags | SIGCHLD, NULL);
  return pid < 0 ? 77 : wait_for(pid);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  g_how = argv[1];
  g_seconds = atof(argv[2]);
  if (strcmp(g_how, "syscall") == 0) {
    const long pid = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) child(NULL);
    return wait_for((pid_t)pid);
  }
  if (strcmp(g_how, "exits") == 0) {
    const int made = by_clone(0);
    uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
    while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < end) value = spin_forked(value);
    return made;
  }
  if (strcmp(g_how, "nested") != 0) return by_clone(0);
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0) return 77;
  if (unshare(CLONE_NEWPID) != 0) return 77;
  const pid_t pid = fork();
  if (pid == 0) _exit(by_clone(CLONE_NEWPID));
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
