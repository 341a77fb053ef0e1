/* A signal comes while one of the library's locks is held. Its handler ends the process, or forks: both wait
   for the lock, and so would for ever if the handler ran in the holder. The release of locks is interposed,
   so that the signal comes at that moment. pctally_count() has no lock, but others wait for its tick: a timer
   sends the signals, and all but a few come within it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pctally/bsd.h>
#include <pctally/n64.h>
#include <pctally/pctally.h>
#include <pctally/svr4.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t armed, handled;

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  static int (*next)(pthread_mutex_t*);
  if (next == 0) next = (int (*)(pthread_mutex_t*))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
  if (armed) armed = 0, raise(SIGUSR1);
  return next(mutex);
}

static void exits(int signal) {
  (void)signal;
  exit(0);
}

static void forks(int signal) {
  (void)signal;
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, 0, 0);
  handled = 1;
}

static void monitor(void) { pctally_bsd_moncontrol(0); }

static void recording(void) {
  struct pctally_tick_ledger ledger;
  pctally_ledger(&ledger);
}

static void n64(void) {
  static uint16_t counters[32];
  uint32_t* text = (uint32_t*)(size_t)0x400000;
  struct pctally_n64_prof section = {counters, 32, text, text + 32};
  osProfileInit(&section, 1);
}

static void monstartup_again(void) { pctally_bsd_monstartup(0x400000, 0x400080); }
static void refresh(void) { pctally_refresh(); }
static void stop(void) { pctally_stop(); }

static void forking(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, 0, 0);
}

static const struct {
  const char* name;
  void (*call)(void);
} calls[] = {{"moncontrol", monitor}, {"monstartup", monstartup_again}, {"pctally_refresh", refresh},
             {"pctally_stop", stop},  {"pctally_ledger", recording},    {"osProfileInit", n64},
             {"fork", forking}};

static void run(void (*call)(void), void (*handler)(int)) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "handler_in_call.pct";
  options.flags = PCTALLY_OVERWRITE | PCTALLY_NO_TIMER;
  pctally_bsd_monstartup(0x400000, 0x400080);
  if (pctally_start(&options) != 0) _exit(2);
  signal(SIGUSR1, handler);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  unlink(options.path);
  armed = 1;
  call();
  _exit(handled ? 0 : 3);
}

static unsigned short cells[64];
static sigjmp_buf place;

static void profile(unsigned scale) { pctally_svr4_profil(cells, sizeof cells, (size_t)cells, scale); }

static void turns_off(int signal) {
  (void)signal;
  profile(handled % 2 == 0 ? 0 : 0x8000);
  ++handled;
}

static void jumps(int signal) {
  (void)signal;
  ++handled;
  siglongjmp(place, 1);
}

/* Counts until a few signals have been handled, and ends the profile and the recording. */
static void count(void (*handler)(int)) {
  enum { kSignals = 20 };
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "handler_in_call.pct";
  options.flags = PCTALLY_OVERWRITE | PCTALLY_NO_TIMER;
  setenv("PCTALLY_ENGINE", "manual", 1);
  profile(0x8000);
  if (pctally_start(&options) != 0) _exit(2);
  unlink(options.path);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGALRM, handler);
  sigsetjmp(place, 1);
  setitimer(ITIMER_REAL, &often, NULL);
  while (handled < kSignals) pctally_count(cells, 1);
  setitimer(ITIMER_REAL, &never, NULL);
  profile(0);
  exit(pctally_stop() == 0 ? 0 : 3);
}

static int counting(void) {
  static const struct {
    const char* name;
    void (*handler)(int);
  } handlers[] = {{"exits", exits}, {"turns the profile off", turns_off}, {"jumps", jumps}};
  int wrong = 0;
  for (size_t i = 0; i < 10 * sizeof handlers / sizeof *handlers; ++i) {
    pid_t child = fork();
    if (child == 0) count(handlers[i / 10].handler);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) continue;
    printf("pctally_count, a handler that %s: status %#x\n", handlers[i / 10].name, (unsigned)status);
    wrong = 1;
  }
  return wrong;
}

int main(void) {
  int wrong = 0;
  alarm(60); /* ends both processes if a child hangs */
  setenv("PROFDIR", "", 1);
  for (size_t i = 0; i < 2 * sizeof calls / sizeof *calls; ++i) {
    const int ends = i % 2 == 0;
    pid_t child = fork();
    if (child == 0) run(calls[i / 2].call, ends ? exits : forks);
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) continue;
    printf("%s, a handler that %s: status %#x\n", calls[i / 2].name, ends ? "exits" : "forks",
           (unsigned)status);
    wrong = 1;
  }
  return counting() || wrong;
}
