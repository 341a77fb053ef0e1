// SIGPROF and ITIMER_PROF, which are the program's own, and the calls that signals interrupt.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "probe.h"

static unsigned short g_cells[kRegionBytes / 2];
static volatile sig_atomic_t g_mine = 0;

static void count(int signal) {
  (void)signal;
  ++g_mine;
}

static void install(void) {
  struct sigaction action = {0};
  action.sa_handler = count;
  action.sa_flags = SA_RESTART;
  sigaction(SIGPROF, &action, NULL);
}

static void turn_on(void) { profil(g_cells, sizeof g_cells, (size_t)low_loop, 0x10000); }

// The program has a handler before the profile, and sends itself ten signals.
static void older_handler(void) {
  install();
  turn_on();
  for (int i = 0; i < 10; ++i) raise(SIGPROF);
  burn(low_loop, 0.3);
  printf("mine=%d ticks=%lu", (int)g_mine, sum16(g_cells, kRegionBytes / 2));
}

// The program installs its own after the call.
static void later_handler(void) {
  turn_on();
  install();
  for (int i = 0; i < 10; ++i) raise(SIGPROF);
  int mine = (int)g_mine;  // what comes later is none of the ten
  burn(low_loop, 0.3);
  printf("mine=%d strange=%d ticks=%lu", mine, (int)g_mine - mine, sum16(g_cells, kRegionBytes / 2));
}

// The program has a CPU-time alarm of its own, every 20 ms.
static void own_itimer(void) {
  struct itimerval mine = {{0, 20000}, {0, 20000}};
  turn_on();
  install();
  setitimer(ITIMER_PROF, &mine, NULL);
  burn(low_loop, 0.5);
  printf("alarms=%d ticks=%lu", (int)g_mine, sum16(g_cells, kRegionBytes / 2));
}

// An alarm that is set before the call.
static void older_itimer(void) {
  struct itimerval mine = {{0, 20000}, {0, 20000}};
  install();
  setitimer(ITIMER_PROF, &mine, NULL);
  turn_on();
  burn(low_loop, 0.5);
  printf("alarms=%d ticks=%lu", (int)g_mine, sum16(g_cells, kRegionBytes / 2));
}

static void* work(void* blocks) {
  if (blocks != NULL) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
  }
  low_loop(rounds_of(0.8));
  return NULL;
}

// The main thread sleeps while another works.
static void sleeper(void* blocks) {
  pthread_t worker;
  int interrupted = 0;
  turn_on();
  pthread_create(&worker, NULL, work, blocks);
  for (int i = 0; i < 20; ++i) {
    struct timespec nap = {0, 30000000};
    interrupted += nanosleep(&nap, NULL) != 0 && errno == EINTR;
  }
  pthread_join(worker, NULL);
  printf("interrupted=%d ticks=%lu", interrupted, sum16(g_cells, kRegionBytes / 2));
}

static void interrupted_sleep(void) { sleeper(NULL); }
static void worker_blocks_signals(void) { sleeper((void*)&g_mine); }

const struct behaviour signal_behaviours[] = {
    {"older_handler", older_handler},
    {"later_handler", later_handler},
    {"own_itimer", own_itimer},
    {"older_itimer", older_itimer},
    {"interrupted_sleep", interrupted_sleep},
    {"worker_blocks_signals", worker_blocks_signals},
    {NULL, NULL},
};
