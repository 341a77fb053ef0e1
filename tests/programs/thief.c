/* thief SECONDS [ignore|one|trap|raw|close]: after a tenth of its CPU time takes every real-time signal with
 * a handler of its own or ("ignore") by ignoring it, as programs do that start from a clean slate, or ("one")
 * only the highest but one, or ("trap") SIGTRAP, or ("raw") ignores all real-time signals without asking the
 * C library, or ("close") closes all descriptors; then uses the rest. */
#include "spin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
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
static void ignore_raw(void) {
  unsigned long action[8] = {(unsigned long)SIG_IGN};
  for (int number = SIGRTMIN; number < SIGRTMAX; ++number) syscall(SYS_rt_sigaction, number, action, NULL, 8);
}

static void steal(const char* what) {
  if (strcmp(what, "close") == 0) {
    for (int fd = 3; fd < 4096; ++fd) close(fd);
  } else if (strcmp(what, "raw") == 0) {
    ignore_raw();
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
