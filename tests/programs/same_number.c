/* same_number: ends with status 3, and leaves a process behind that makes another one with the number of the
   first, as soon as that is free, and ends; the other one says so, and ends with status 0. Needs
   CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE, and Linux 5.5. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct clone_args of linux/sched.h, which older headers do not have whole. */
struct arguments {
  uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size;
};

static pid_t fork_as(pid_t number) {
  struct arguments arguments = {
      .exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
  return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

int main(void) {
  const pid_t first = getpid();
  int parent[2];
  pid_t second = -1;
  char byte;
  if (pipe(parent) != 0) return 1;
  if (fork() != 0) return 3;
  while ((second = fork_as(first)) < 0 && errno == EEXIST) sched_yield();
  if (second != 0) return second < 0;
  close(parent[1]);
  if (read(parent[0], &byte, 1) != 0) return 1; /* until its parent has ended */
  if (write(STDOUT_FILENO, "again\n", 6) != 6) return 1;
  return 0;
}
