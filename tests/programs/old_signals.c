/* old_signals SECONDS: what the calls of BSD and System V for signals answer for SIGTRAP, SIGUSR1 and a
 * real-time signal, one answer a line; then uses its CPU time. */
#define _GNU_SOURCE
#include "spin.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
/* Not in every <signal.h>, or under another name. */
extern void (*bsd_signal(int, void (*)(int)))(int);
extern void (*ssignal(int, void (*)(int)))(int);
extern void (*sysv_signal(int, void (*)(int)))(int);
extern void (*sigset(int, void (*)(int)))(int);
extern int sigblock(int), sigsetmask(int), sighold(int), sigrelse(int), sigignore(int);

#define HOLD ((void (*)(int))2)

static volatile sig_atomic_t g_handled;
static void handler(int number) { g_handled = number; }

static const char* name(void (*action)(int)) {
  return action == SIG_ERR   ? "error"
         : action == SIG_DFL ? "default"
         : action == SIG_IGN ? "ignore"
         : action == HOLD    ? "hold"
         : action == handler ? "handler"
                             : "another";
}

static void raised(int number) {
  g_handled = 0;
  raise(number);
  printf(" raised %d", g_handled);
}

static void actions(int number) {
  printf("%d:", number);
  printf(" %s", name(bsd_signal(number, handler)));
  raised(number);
  printf(" %s", name(ssignal(number, SIG_IGN)));
  raised(number);
  printf(" %s", name(sysv_signal(number, handler)));
  raised(number); /* which resets it */
  printf(" %s", name(sigset(number, handler)));
  raised(number);
  printf(" %d", sigignore(number));
  raised(number);
  printf(" %s %s\n", name(sigset(number, handler)), name(sigset(number, SIG_DFL)));
}

__attribute__((noinline)) uint64_t with_all_blocked(uint64_t value) { return turn(20000, value); }

int main(int argc, char** argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 0.3;
  for (int i = 0; i < 3; i++) actions((int[]){SIGTRAP, SIGUSR1, SIGRTMAX - 1}[i]);
  printf("held: %d", sighold(SIGUSR1));
  printf(" %s", name(sigset(SIGUSR1, handler)));
  printf(" %s", name(sigset(SIGUSR1, HOLD)));
  raised(SIGUSR1);
  printf(" %d", sigrelse(SIGUSR1));
  printf(" handled %d\n", g_handled);
  printf("masks: %x", sigblock(1 << (SIGUSR2 - 1)));
  printf(" %x", sigsetmask(1 << (SIGUSR1 - 1)));
  printf(" %x\n", sigsetmask(0));
  errno = 0;
  printf("wrong: %d", sighold(0));
  printf(" %d", sigignore(99));
  printf(" %s %s\n", name(sigset(99, SIG_DFL)), strerror(errno));
  fflush(stdout);
  sigblock(-1);
  sigsetmask(-1);
  sighold(SIGTRAP);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) value = with_all_blocked(value);
  return 0;
}
