/* alternate_handler SECONDS [first|small|tiles|no_cpuid|roomy]: works while a timer sends signals to a
 * handler that takes 3 KiB and 2 ms on an alternate stack of 8,192 bytes (SIGSTKSZ). first: the handler is
 * set before the stack. small: it takes next to nothing of a stack that is 512 bytes above the least. tiles:
 * so does one whose frames have the tiles of AMX in them. no_cpuid: as small, and the instruction CPUID is a
 * SIGSEGV. roomy: the stack has 32 KiB. Exits with 77 where a machine has no tiles, or no such fault. Says
 * what of its own actions it does not find again. */
#include "spin.h"
#include "tiles.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile unsigned long handled;

static inline __attribute__((always_inline)) void spin(double seconds) {
  const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
  while ((double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e-9 < seconds) turn(10000, 0);
}

__attribute__((noinline)) void work_in_handler(void) { spin(0.002); }
__attribute__((noinline)) void work(double seconds) { spin(seconds); }

static void on_alarm_small(int signal) {
  (void)signal;
  work_in_handler();
  handled++;
}

static void on_alarm(int signal) {
  volatile char buffer[3072];
  memset((void*)buffer, signal, sizeof buffer);
  work_in_handler();
  handled++;
}

static void on_once(int signal, siginfo_t* info, void* context) {
  if (info->si_signo != signal || context == NULL) abort();
  handled++;
}

enum { kTileBytes = 8192 };

/* The kernel's figure counts tiles where the machine has them. */
static size_t least_frame(int with_tiles) {
  const long least = sysconf(_SC_MINSIGSTKSZ);
  if (least < 2048) return 2048;
  return (size_t)least - (!with_tiles && least > kTileBytes + 2048 ? kTileBytes : 0);
}

/* False if the machine cannot. */
static int forbid_cpuid(void) {
#ifdef __x86_64__
  enum { kSetCpuid = 0x1012 };
  return syscall(SYS_arch_prctl, kSetCpuid, 0) == 0;
#else
  return 0;
#endif
}

static int set_stack(size_t bytes) {
  stack_t stack = {.ss_size = bytes};
  /* at the beginning of a page: what is written below it ends the program */
  stack.ss_sp = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return stack.ss_sp == MAP_FAILED ? -1 : sigaltstack(&stack, NULL);
}

int main(int count, char** words) {
  const int first = count > 2 && strcmp(words[2], "first") == 0;
  const int tiles = count > 2 && strcmp(words[2], "tiles") == 0;
  const int no_cpuid = count > 2 && strcmp(words[2], "no_cpuid") == 0;
  const int small = tiles || no_cpuid || (count > 2 && strcmp(words[2], "small") == 0);
  const int roomy = count > 2 && strcmp(words[2], "roomy") == 0;
  const size_t bytes = small ? least_frame(tiles) + 512 : roomy ? 32768 : 8192;
  void (*const handler)(int) = small ? on_alarm_small : on_alarm;
  struct sigaction alarm = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART}, found;
  struct sigaction once = {.sa_sigaction = on_once, .sa_flags = SA_ONSTACK | SA_SIGINFO | (int)SA_RESETHAND};
  sigaddset(&alarm.sa_mask, SIGUSR2);
  if (tiles && !use_tiles()) return 77;
  if (no_cpuid && !forbid_cpuid()) return 77;
  if (!first && set_stack(bytes) != 0) return 1;
  sigaction(SIGALRM, &alarm, NULL);
  sigaction(SIGUSR1, &once, NULL);
  if (first && set_stack(bytes) != 0) return 1;

  sigaction(SIGALRM, NULL, &found);
  if (found.sa_handler != handler || (found.sa_flags & SA_SIGINFO) != 0) puts("another handler");
  if (sigismember(&found.sa_mask, SIGUSR2) != 1 || sigismember(&found.sa_mask, SIGTRAP) != 0)
    puts("another mask");
  if (raise(SIGUSR1) != 0 || handled != 1) puts("not handled");
  sigaction(SIGUSR1, NULL, &found);
  if (found.sa_handler != SIG_DFL) puts("not reset");

  const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  work(atof(words[1]));
  setitimer(ITIMER_REAL, &never, NULL);
  if (signal(SIGALRM, SIG_IGN) != handler) puts("signal(3) returns another");
  puts(handled > 10 ? "lived" : "few signals");
  return 0;
}
