/* filtered_thread [fork|PROGRAM ARGUMENT...]: installs a seccomp filter that kills the process at
 * timer_create(2) and most other calls that a profiler could make, then uses 0.2 s of CPU time in a thread
 * and 0.2 s in its main thread. fork: does so in a child. PROGRAM: executes it, which openat(2) is open to.
 */
#include "spin.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t behind_filter(uint64_t value) { return turn(20000, value); }

static void* worker(void* unused) {
  (void)unused;
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 200000000, value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = behind_filter(value);
  return NULL;
}

#define KILL(number, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, left, 0)

/* 1 if it was killed. */
static int in_child(void) {
  const pid_t pid = fork();
  if (pid == 0) {
    worker(NULL);
    _exit(0);
  }
  int status = 0;
  return waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char** argv) {
  const int executes = argc > 1 && strcmp(argv[1], "fork") != 0;
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(SYS_timer_create, 6),
      KILL(SYS_timer_settime, 5),
      KILL(SYS_timer_delete, 4),
      KILL(SYS_getrusage, 3),
      KILL(executes ? SYS_perf_event_open : SYS_openat, 2),
      KILL(SYS_perf_event_open, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  pthread_t thread;
  puts("lived");
  fflush(stdout);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 77;
  if (executes) return execv(argv[1], argv + 1);
  if (argc > 1) return in_child();
  if (pthread_create(&thread, NULL, worker, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  worker(NULL);
  return 0;
}
