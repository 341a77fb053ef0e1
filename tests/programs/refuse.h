/* Runs a command with a system call answered in the kernel's place. */
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Calls number `first` and `second` return `error` (0: success) without being made, in argv[0] and all that
 * it starts. Returns the exit status of its own failure. */
static inline int run_refusing(unsigned first, unsigned second, unsigned error, char** argv) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("seccomp");
    return 125;
  }
  execvp(argv[0], argv);
  perror(argv[0]);
  return 127;
}
