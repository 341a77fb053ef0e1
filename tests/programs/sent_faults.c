/* sent_faults SIGNAL TIMES: gets SIGSEGV or SIGBUS so many times from another thread while it works deep in
 * calls, and prints how many came, how many of them where the handler saw code that is not of this program
 * and its C library, and how many said another sender or reason. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fault_place.h"
#include "spin.h"

static volatile sig_atomic_t came, foreign, wrong;
static volatile int started, done;
static pthread_t worker;

static void on_fault(int number, siginfo_t* info, void* context) {
  Dl_info object;
  (void)number;
  if (info->si_code != SI_TKILL || info->si_pid != getpid() || info->si_uid != getuid()) wrong++;
  if (dladdr((void*)pc_of(context), &object) != 0 && strstr(object.dli_fname, "libpctally") != NULL)
    foreign++;
  came++; /* the next one is sent now: not inside dladdr(), which has a lock */
}

__attribute__((noinline)) static uint64_t deep(unsigned levels, uint64_t value) {
  if (levels == 0) return turn(2000, value);
  return deep(levels - 1, value) + 1;
}

static void* work(void* argument) {
  uint64_t value = 1;
  for (; !done; started = 1) value = deep(100, value);
  return argument;
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int signal = atoi(words[1]), signals = atoi(words[2]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(signal, &action, NULL);
  if (pthread_create(&worker, NULL, work, NULL) != 0) return 1;
  while (!started) turn(50, 1);
  for (int i = 0; i < signals; i++) {
    const int before = came;
    pthread_kill(worker, signal);
    while (came == before) turn(50, 1);
    turn((uint64_t)(i % 97) * 20, 1);
  }
  done = 1;
  pthread_join(worker, NULL);
  printf("%d came, %d in code that is not the program's, %d said something else\n", (int)came, (int)foreign,
         (int)wrong);
  return 0;
}
