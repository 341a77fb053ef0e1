/* unseen_threads SECONDS: a thread made by the bare clone(2) spins for so long, beside a main thread that
 * waits. unseen_threads SECONDS LIBRARY PROFILE: profiles itself by a library brought by dlopen(3), and then
 * starts the thread by pthread_create(3). unseen_threads SECONDS LIBRARY PROFILE refresh: the thread waits
 * until pctally_refresh() has been called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pctally/pctally.h"

static double g_seconds;
static int g_alive = 1;
static sem_t g_refreshed;

/* No thread-local storage, no errno. */
__attribute__((noinline)) static void spin_unseen(void) {
  struct timespec used = {0, 0};
  while ((double)used.tv_sec + (double)used.tv_nsec / 1e9 < g_seconds) {
    for (volatile int i = 0; i < 10000; i++) continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  }
}

static int run_bare(void* unused) {
  (void)unused;
  spin_unseen();
  return 0;
}

static void* run_thread(void* unused) {
  sem_wait(&g_refreshed);
  spin_unseen();
  return unused;
}

static int bare(void) {
  const size_t bytes = 1 << 20;
  char* stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int flags =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID;
  if (stack == MAP_FAILED || clone(run_bare, stack + bytes, flags, NULL, NULL, NULL, &g_alive) < 0) return 1;
  while (__atomic_load_n(&g_alive, __ATOMIC_ACQUIRE) != 0)
    syscall(SYS_futex, &g_alive, FUTEX_WAIT, 1, NULL, NULL, 0);
  return 0;
}

static int brought(const char* library, const char* profile, int looks_again) {
  void* pctally = dlopen(library, RTLD_NOW);
  if (pctally == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*start)(const struct pctally_options*) =
      (int (*)(const struct pctally_options*))dlsym(pctally, "pctally_start");
  int (*stop)(void) = (int (*)(void))dlsym(pctally, "pctally_stop");
  int (*refresh)(void) = (int (*)(void))dlsym(pctally, "pctally_refresh");
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = profile;
  pthread_t thread;
  sem_init(&g_refreshed, 0, 0);
  if (start(&options) != 0 || pthread_create(&thread, NULL, run_thread, NULL) != 0) return 1;
  if (looks_again && refresh() != 0) return 1;
  sem_post(&g_refreshed);
  pthread_join(thread, NULL);
  return stop() != 0;
}

int main(int argc, char** argv) {
  g_seconds = argc > 1 ? atof(argv[1]) : 0.5;
  return argc > 3 ? brought(argv[2], argv[3], argc > 4) : bare();
}
