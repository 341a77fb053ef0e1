/* Storms over a dialect's profile; prints one JSON object.
 *
 *   dialect_storm pairs N               N times on and off, each dialect in turn, while four threads spin
 *   dialect_storm chains N              N times fork, vfork and posix_spawn of env nice sh, a profile on
 *   dialect_storm churn LIFE_US N       N threads, four at a time, that each spin for so long
 *   dialect_storm exec-self             turns a profile on and becomes "dialect_storm after-exec"
 *   dialect_storm after-exec            burns CPU time; fails if it has a timer
 */
#include "spin.h"

#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/pctally.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"

extern char** environ;

static uint64_t spin_ns(uint64_t ns) {
  uint64_t until = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns, value = 0;
  while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until) value = turn(2000, value);
  return value;
}

static volatile int g_stop;
static void* spinner(void* unused) {
  while (!g_stop) spin_ns(1000000);
  return unused;
}

/* Every tick at all, in one counter. */
static uint64_t g_all;
static int all_on(void) {
  struct pctally_hpux_prof all = {&g_all, sizeof g_all, 0, 2};
  return pctally_hpux_sprofil(&all, 1, 0, PCTALLY_HPUX_UINT64);
}
static int all_off(void) { return pctally_hpux_sprofil(0, 0, 0, 0); }

/* ---- pairs */

#define CELLS 4096
static uint16_t g_cells[CELLS];
static const char* const g_system[] = {"svr4", "bsd", "tru64", "aix", "glibc", "irix", "hpux"};

static int on(int dialect) {
  size_t text = (size_t)spin_ns & ~(size_t)0xfff;
  struct pctally_hpux_prof entry = {g_cells, sizeof g_cells, (void*)text, 0x8000};
  switch (dialect) {
    case 0:
      return pctally_svr4_profil(g_cells, sizeof g_cells, text, 0x8000);
    case 1:
      return pctally_bsd_profil((char*)g_cells, sizeof g_cells, text, 0x8000);
    case 2:
      return errno = 0, pctally_tru64_profil(g_cells, sizeof g_cells, (long)text, 0x8000), errno;
    case 3:
      return pctally_aix_profil(g_cells, sizeof g_cells, text, 0x8000);
    case 4:
      return pctally_glibc_profil(g_cells, sizeof g_cells, text, 0x8000);
    case 5:
      return pctally_irix_profil(g_cells, sizeof g_cells, text, 0x8000);
    default:
      return pctally_hpux_sprofil(&entry, 1, 0, PCTALLY_HPUX_USHORT);
  }
}

static int off(int dialect) {
  switch (dialect) {
    case 0:
      return pctally_svr4_profil(0, 0, 0, 0);
    case 1:
      return pctally_bsd_profil(0, 0, 0, 0);
    case 2:
      return errno = 0, pctally_tru64_profil(0, 0, 0, 0), errno;
    case 3:
      return pctally_aix_profil(0, 2, 0, 0);
    case 4:
      return pctally_glibc_profil(0, 0, 0, 0);
    case 5:
      return pctally_irix_profil(0, 0, 0, 0);
    default:
      return pctally_hpux_sprofil(0, 0, 0, 0);
  }
}

static uint64_t sum(void) {
  uint64_t total = 0;
  for (int i = 0; i < CELLS; ++i) total += ((volatile uint16_t*)g_cells)[i];
  return total;
}

static int pairs(long count) {
  pthread_t thread[4];
  uint64_t ticks = 0, late = 0, refused = 0, unaccounted = 0;
  for (int i = 0; i < 4; ++i) pthread_create(&thread[i], 0, spinner, 0);
  for (long pair = 0; pair < count; ++pair) {
    int dialect = (int)(pair % (long)(sizeof g_system / sizeof *g_system));
    struct pctally_tick_ledger at_off = {0}, later = {0};
    memset(g_cells, 0, sizeof g_cells);
    refused += on(dialect) != 0;
    if (pair % 16 == 0) spin_ns(2000000); /* about a tick of five threads */
    refused += off(dialect) != 0;
    uint64_t counted = sum();
    pctally_profil_ledger(g_system[dialect], &at_off);
    if (pair % 16 == 0) spin_ns(2000000); /* and as long without one */
    pctally_profil_ledger(g_system[dialect], &later);
    late += sum() != counted || later.ticks != at_off.ticks;
    unaccounted += at_off.counted != counted;
    ticks += at_off.ticks;
  }
  g_stop = 1;
  for (int i = 0; i < 4; ++i) pthread_join(thread[i], 0);
  printf("{\"pairs\": %ld, \"refused\": %lu, \"late\": %lu, \"unaccounted\": %lu, \"ticks\": %lu}\n", count,
         (unsigned long)refused, (unsigned long)late, (unsigned long)unaccounted, (unsigned long)ticks);
  return 0;
}

/* ---- chains */

static char* const g_command[] = {
    "env", "nice", "-n", "1", "sh", "-c", "i=0; while [ $i -lt 300 ]; do i=$((i+1)); done", 0};

static int status_of(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

static pid_t by_fork(void) {
  pid_t child = fork();
  if (child == 0) execvp(g_command[0], g_command), _exit(127);
  return child;
}

static pid_t by_vfork(void) {
  pid_t child = vfork();
  if (child == 0) execvp(g_command[0], g_command), _exit(127);
  return child;
}

static pid_t by_spawn(void) {
  pid_t child;
  return posix_spawnp(&child, g_command[0], 0, 0, g_command, environ) == 0 ? child : -1;
}

static int chains(long count) {
  long died = 0, silent = 0;
  if (all_on() != 0) return 1;
  for (long i = 0; i < count; ++i) {
    died += status_of(by_fork()) != 0;
    died += status_of(by_vfork()) != 0;
    died += status_of(by_spawn()) != 0;
    spin_ns(1000000);
  }
  /* Both processes of a fork count on. */
  for (long i = 0; i < 1 + count / 20; ++i) {
    uint64_t before = g_all;
    pid_t child = fork();
    if (child == 0) {
      spin_ns(100000000);
      _exit(g_all >= before + 4 ? 0 : 1);
    }
    spin_ns(100000000);
    silent += status_of(child) != 0;
    silent += g_all < before + 4;
  }
  all_off();
  printf("{\"chains\": %ld, \"died\": %ld, \"silent\": %ld, \"ticks\": %lu}\n", 3 * count, died, silent,
         (unsigned long)g_all);
  return 0;
}

/* ---- exec */

static int exec_self(const char* program) {
  if (all_on() != 0) return 1;
  spin_ns(30000000);
  execl(program, program, "after-exec", (char*)0);
  return 1;
}

static int after_exec(void) {
  char line[16];
  FILE* timers = fopen("/proc/self/timers", "r");
  int has_timer = timers != 0 && fgets(line, sizeof line, timers) != 0;
  spin_ns(100000000);
  printf("{\"timers_known\": %d, \"timers\": %d, \"ticks\": %lu}\n", timers != 0, has_timer,
         (unsigned long)g_all);
  return 0;
}

/* ---- churn */

static uint64_t g_life_ns;
static long g_left;
static void* short_life(void* unused) {
  spin_ns(g_life_ns);
  return unused;
}
static void* starter(void* unused) {
  while (__atomic_sub_fetch(&g_left, 1, __ATOMIC_RELAXED) >= 0) {
    pthread_t thread;
    if (pthread_create(&thread, 0, short_life, 0) == 0) pthread_join(thread, 0);
  }
  return unused;
}

static double cpu_s(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static int churn(long life_us, long count) {
  pthread_t thread[4];
  struct pctally_tick_ledger ledger;
  g_life_ns = (uint64_t)life_us * 1000;
  g_left = count;
  double before = cpu_s();
  if (all_on() != 0) return 1;
  for (int i = 0; i < 4; ++i) pthread_create(&thread[i], 0, starter, 0);
  for (int i = 0; i < 4; ++i) pthread_join(thread[i], 0);
  all_off();
  double used = cpu_s() - before;
  if (pctally_profil_ledger("hpux", &ledger) != 0) return 1;
  printf(
      "{\"threads\": %ld, \"cpu_s\": %.6f, \"ticks\": %lu, \"counted\": %lu, \"outside\": %lu, \"full\": "
      "%lu, "
      "\"lost\": %lu, \"samples\": %lu, \"in_counters\": %lu, \"coverage\": %.4f}\n",
      count, used, (unsigned long)ledger.ticks, (unsigned long)ledger.counted, (unsigned long)ledger.outside,
      (unsigned long)ledger.full, (unsigned long)ledger.lost, (unsigned long)ledger.samples,
      (unsigned long)g_all, (double)ledger.ticks * 0.01 / used);
  return 0;
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  long first = argc > 2 ? atol(argv[2]) : 0, second = argc > 3 ? atol(argv[3]) : 0;
  if (strcmp(what, "pairs") == 0) return pairs(first);
  if (strcmp(what, "chains") == 0) return chains(first);
  if (strcmp(what, "churn") == 0) return churn(first, second);
  if (strcmp(what, "exec-self") == 0) return exec_self(argv[0]);
  if (strcmp(what, "after-exec") == 0) return after_exec();
  fprintf(stderr, "see the top of %s\n", __FILE__);
  return 2;
}
