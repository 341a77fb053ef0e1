/* signal_reader worker|sigwait|signalfd|mask|raw SECONDS: a thread that blocks all signals uses the CPU: made
 * so, as xz(1) makes its own; taking signals by sigtimedwait(2), sigwaitinfo(2) and sigwait(3) meanwhile; by
 * signalfd(2); setting and reading back its mask; blocking them by a bare system call. Prints how many
 * signals it got that it did not send itself, or how many masks were wrong. */
#define _GNU_SOURCE
#include "spin.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char* g_how;
static double g_seconds;
static long g_wrong;

__attribute__((noinline)) uint64_t hidden_work(uint64_t value) { return turn(20000, value); }

static void take_by_waiting(const sigset_t* all) {
  struct timespec none = {0, 0};
  siginfo_t info;
  int number = 0;
  if (sigtimedwait(all, &info, &none) > 0) ++g_wrong;
  raise(SIGUSR1);
  if (sigwaitinfo(all, &info) != SIGUSR1) ++g_wrong;
  raise(SIGUSR2);
  if (sigwait(all, &number) != 0 || number != SIGUSR2) ++g_wrong;
}

static void take_by_descriptor(const sigset_t* all) {
  static int fd = -1;
  struct signalfd_siginfo info;
  if (fd < 0) fd = signalfd(-1, all, SFD_NONBLOCK);
  raise(SIGUSR1);
  long own = 0;
  while (read(fd, &info, sizeof info) == (ssize_t)sizeof info)
    info.ssi_signo == SIGUSR1 ? (void)++own : (void)++g_wrong;
  g_wrong += own != 1;
}

static void read_back(const sigset_t* all) {
  struct timespec none = {0, 0};
  sigset_t now, empty;
  sigemptyset(&empty);
  ppoll(NULL, 0, &none, all);
  pselect(0, NULL, NULL, NULL, &none, all);
  pthread_sigmask(SIG_SETMASK, &empty, NULL);
  sigprocmask(SIG_BLOCK, all, &now);
  for (int number = 1; number < SIGRTMAX; ++number) g_wrong += sigismember(&now, number) == 1;
  pthread_sigmask(SIG_BLOCK, NULL, &now);
  g_wrong += sigismember(&now, SIGUSR1) != 1 || sigismember(&now, SIGRTMIN) != 1;
}

static void* worker(void* unused) {
  (void)unused;
  sigset_t all;
  sigfillset(&all);
  if (strcmp(g_how, "raw") == 0) syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
  uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)(g_seconds * 1e9), value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
    for (int i = 0; i < 200; ++i) value = hidden_work(value);
    if (strcmp(g_how, "sigwait") == 0) take_by_waiting(&all);
    if (strcmp(g_how, "signalfd") == 0) take_by_descriptor(&all);
    if (strcmp(g_how, "mask") == 0) read_back(&all);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_how = argv[1];
  g_seconds = atof(argv[2]);
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, worker, NULL) != 0) return 1;
  if (strcmp(g_how, "worker") == 0) pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_join(thread, NULL);
  printf("%ld\n", g_wrong);
  return 0;
}
