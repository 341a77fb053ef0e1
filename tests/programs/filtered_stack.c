/* filtered_stack unmapped|small|again: has a seccomp filter that kills for rt_sigprocmask(2), changes its
 * alternate stack behind it, and works. unmapped: the stack's memory goes, with more around it. small: it
 * gets one of 8 KiB, and a signal there. again: it had one without room for a handler, and gets a large one.
 */
#include "spin.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kBytes = 64 << 10, kSkipped = 77 };

static volatile sig_atomic_t handled;

__attribute__((noinline)) void work(void) {
  const uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + 200000000;
  uint64_t value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = turn(20000, value);
}

static void on_signal(int signal) {
  (void)signal;
  handled = 1;
}

static int set_stack(char* memory, size_t bytes) {
  const stack_t stack = {.ss_sp = memory, .ss_size = bytes};
  return sigaltstack(&stack, NULL);
}

static int install_filter(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigprocmask, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int count, char** words) {
  const char* scene = count > 1 ? words[1] : "";
  const size_t least = 2048; /* that a kernel takes, if that is no room for a frame */
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  char* memory = mmap(NULL, 3 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* stack = memory + kBytes;
  if (memory == MAP_FAILED || sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  if (strcmp(scene, "again") == 0) {
    if ((size_t)sysconf(_SC_MINSIGSTKSZ) <= least || set_stack(stack, least) != 0) return kSkipped;
  } else if (set_stack(stack, kBytes) != 0) {
    return 1;
  }
  if (install_filter() != 0) return kSkipped;
  if (strcmp(scene, "unmapped") == 0) {
    if (munmap(memory, 3 * kBytes) != 0) return 1;
  } else if (set_stack(stack, strcmp(scene, "small") == 0 ? 8 << 10 : kBytes) != 0) {
    return 1;
  } else if (syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1) != 0 || !handled) {
    return 1;
  }
  work();
  return puts("lived"), 0;
}
