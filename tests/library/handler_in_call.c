/* A signal comes while one of the library's locks is held. Its handler ends the process, or forks: both wait
   for the lock, and so would for ever if the handler ran in the holder. What a lock calls
   once it is taken is interposed, so that the signal comes at that moment. pctally_count() has no lock, but
   others wait for its tick: a timer sends the signals, and all but a few come within it. */
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

static __thread volatile sig_atomic_t
    armed;       /* at the how manieth lock; a thread of the library takes some, too */
static int sent; /* the signal */
static volatile sig_atomic_t handled;

/* What a lock calls once it is taken: to know its holder. */
pthread_t pthread_self(void) {
  static pthread_t (*next)(void);
  if (next == 0) next = (pthread_t(*)(void))dlsym(RTLD_NEXT, "pthread_self");
  if (armed != 0 && --armed == 0) raise(sent);
  return next();
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

enum { kFewerLocks = 4 };

static void run(void (*call)(void), void (*handler)(int), int lock, int number) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "handler_in_call.pct";
  options.flags = PCTALLY_OVERWRITE | PCTALLY_NO_TIMER;
  pctally_bsd_monstartup(0x400000, 0x400080);
  if (pctally_start(&options) != 0) _exit(2);
  sent = number;
  signal(sent, handler);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  unlink(options.path);
  armed = lock;
  call();
  if (armed != 0) _exit(kFewerLocks);
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

/* True if the call takes as many locks. */
static int survives(size_t call, int ends, int lock, int number, int* wrong) {
  pid_t child = fork();
  if (child == 0) run(calls[call].call, ends ? exits : forks, lock, number);
  int status = 0;
  waitpid(child, &status, 0);
  if (lock > 1 && WIFEXITED(status) && WEXITSTATUS(status) == kFewerLocks) return 0;
  if (status == 0) return 1;
  printf("%s, a handler of signal %d that %s at lock %d: status %#x\n", calls[call].name, number,
         ends ? "exits" : "forks", lock, (unsigned)status);
  *wrong = 1;
  return 0;
}

/* Signals with a handler, as the kernel has them: sigaction(2) is the library's, and keeps its own to itself.
 */
static unsigned long long caught(void) {
  unsigned long long mask = 0;
  char line[128];
  FILE* status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "SigCgt: %llx", &mask) == 1) break;
  if (status != NULL) fclose(status);
  return mask;
}

/* All real-time signals wait while the call chooses one for its ticks: the highest that the program has not
   blocked. */
static int chooses(void) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  const pid_t child = fork();
  if (child == 0) {
    sigset_t highest;
    sigemptyset(&highest);
    sigaddset(&highest, SIGRTMAX);
    sigprocmask(SIG_BLOCK, &highest, NULL);
    options.path = "handler_in_call.pct";
    options.flags = PCTALLY_OVERWRITE;
    options.engine = "timer";
    if (pctally_start(&options) != 0) _exit(2);
    unlink(options.path);
    const unsigned long long mask = caught();
    pctally_stop();
    _exit((mask >> (SIGRTMAX - 1) & 1) == 0 && (mask >> (SIGRTMAX - 2) & 1) == 1 ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) printf("the signal of the ticks: status %#x\n", (unsigned)status);
  return status != 0;
}

int main(void) {
  int wrong = chooses();
  alarm(60); /* ends both processes if a child hangs */
  setenv("PROFDIR", "", 1);
  for (size_t i = 0; i < 4 * sizeof calls / sizeof *calls; ++i)
    for (int lock = 1; survives(i / 4, i % 2 == 0, lock, i & 2 ? SIGUSR1 : SIGRTMIN + 3, &wrong); ++lock)
      continue;
  return counting() || wrong;
}
