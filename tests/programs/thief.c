/* thief SECONDS [ignore|one|trap|syscall|raw|child|close]: after a tenth of its CPU time takes every
 * real-time signal with a handler of its own or ("ignore") by ignoring it, as programs do that start from a
 * clean slate, or ("one") only the highest but one, or ("trap") SIGTRAP, or ignores all real-time signals by
 * syscall(2) ("syscall") or without asking the C library ("raw"), or ("child") makes a child that resets all
 * actions by syscall(2), as browsers do, or ("close") closes all descriptors; then it, or the child, uses the
 * rest. */
#include "spin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t before_theft(uint64_t value) { return turn(20000, value); }
__attribute__((noinline)) uint64_t after_theft(uint64_t value) { return turn(20000, value); }

static volatile sig_atomic_t g_seen;
static void mine(int signal) {
  (void)signal;
  g_seen = 1;
}

static void take_signals(int from, int to, void (*handler)(int)) {
  for (int number = from; number < to; ++number) signal(number, handler);
}

/* The kernel's own struct: handler, flags, restorer, mask; all but the handler are 0. */
static void ignore_by_syscall(void) {
  unsigned long action[8] = {(unsigned long)SIG_IGN};
  for (int number = SIGRTMIN; number < SIGRTMAX; ++number) syscall(SYS_rt_sigaction, number, action, NULL, 8);
}

static void ignore_raw(void) {
  unsigned long action[8] = {(unsigned long)SIG_IGN};
  for (long number = SIGRTMIN; number < SIGRTMAX; ++number) {
#if defined(__x86_64__)
    register long bytes __asm__("r10") = 8;
    long result = SYS_rt_sigaction;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(number), "S"(action), "d"(0L), "r"(bytes)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long x0 __asm__("x0") = number, x2 __asm__("x2") = 0, x3 __asm__("x3") = 8;
    register unsigned long* x1 __asm__("x1") = action;
    register long x8 __asm__("x8") = SYS_rt_sigaction;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
#else
    syscall(SYS_rt_sigaction, number, action, NULL, 8);
#endif
  }
}

/* Each action is read, set again with the default handler, and read back. */
static void reset_in_child(void) {
  pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
    _exit(WEXITSTATUS(status));
  }
  for (int number = 1; number < NSIG; ++number) {
    unsigned long action[8] = {0}, again[8] = {0};
    if (number == SIGKILL || number == SIGSTOP || syscall(SYS_rt_sigaction, number, NULL, action, 8) != 0)
      continue;
    action[0] = (unsigned long)SIG_DFL;
    if (syscall(SYS_rt_sigaction, number, action, NULL, 8) != 0) _exit(3);
    if (syscall(SYS_rt_sigaction, number, NULL, again, 8) != 0 || again[0] != (unsigned long)SIG_DFL)
      _exit(4);
  }
}

static void steal(const char* what) {
  if (strcmp(what, "close") == 0) {
    for (int fd = 3; fd < 4096; ++fd) close(fd);
  } else if (strcmp(what, "raw") == 0) {
    ignore_raw();
  } else if (strcmp(what, "syscall") == 0) {
    ignore_by_syscall();
  } else if (strcmp(what, "child") == 0) {
    reset_in_child();
  } else if (strcmp(what, "trap") == 0) {
    signal(SIGTRAP, mine);
  } else {
    take_signals(strcmp(what, "one") == 0 ? SIGRTMAX - 1 : SIGRTMIN, SIGRTMAX,
                 strcmp(what, "ignore") == 0 ? SIG_IGN : mine);
  }
}

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 1;
  uint64_t value = 0, start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < start + (uint64_t)(seconds * 1e8)) value = before_theft(value);
  steal(argc > 2 ? argv[2] : "all");
  while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < start + (uint64_t)(seconds * 1e9)) value = after_theft(value);
  return (int)(value & 0);
}
