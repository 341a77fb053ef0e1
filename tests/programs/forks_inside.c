/* forks_inside pids|root SECONDS: makes a new pid namespace, where /proc shows other numbers, or an empty
 * root directory, where there is no /proc; then forks a child with two threads that spin for so long. 77: the
 * system does not allow it. */
#define _GNU_SOURCE
#include "spin.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static double g_seconds;

__attribute__((noinline)) uint64_t spin_inside(uint64_t value) { return turn(20000, value); }

static void* spin(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = spin_inside(value);
  return NULL;
}

static int enter(const char* where) {
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0) return -1;
  if (strcmp(where, "pids") == 0) return unshare(CLONE_NEWPID);
  return chroot("/proc/self/fdinfo") != 0 ? -1 : chdir("/");
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  g_seconds = atof(argv[2]);
  if (enter(argv[1]) != 0) return 77;
  const pid_t child = fork();
  if (child < 0) return 77;
  if (child == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spin, NULL) != 0) _exit(1);
    spin(NULL);
    pthread_join(thread, NULL);
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}
