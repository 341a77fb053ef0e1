/* Profiles itself by one call of one system, with ticks at places the command line names:
 *   monitored CALL [FUNCTION+OFFSET=TICKS]...      (PCTALLY_ENGINE=manual: no other ticks)
 * The same ticks go to a recording, monitored.pct; the sum of the caller's counters is printed, and the ticks
 * that the account of the system's profil has as counted. */
#include <pctally/aix.h>
#include <pctally/bsd.h>
#include <pctally/glibc.h>
#include <pctally/hpux.h>
#include <pctally/pctally.h>
#include <pctally/svr4.h>
#include <pctally/tru64.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION(name)                                        \
  __attribute__((aligned(256), noinline)) void name(long n) { \
    volatile long i;                                          \
    for (i = 0; i < n; i++) {                                 \
    }                                                         \
    for (i = 0; i < n; i++) {                                 \
    }                                                         \
  }
FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma_)
FUNCTION(fence)

static unsigned char buffer[1 << 16] __attribute__((aligned(8)));
static size_t width = 2;

static const struct {
  const char* name;
  void (*text)(long);
} functions[] = {{"alpha", alpha}, {"beta", beta}, {"gamma_", gamma_}, {"fence", fence}};

static char* text_of(const char* name, size_t length) {
  size_t i;
  for (i = 0; i < sizeof functions / sizeof *functions; i++)
    if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
      return (char*)functions[i].text;
  return 0;
}

static void count(const char* word) {
  const char *plus = strchr(word, '+'), *equal = strchr(word, '=');
  char* pc = text_of(word, (size_t)(plus - word)) + strtol(plus, 0, 0);
  unsigned long long ticks = strtoull(equal + 1, 0, 0);
  if (pctally_count(pc, ticks) != 0) exit(3);
}

static unsigned long low, high;

static void hpux_regions(unsigned flag) {
  struct pctally_hpux_text_region regions[2];
  regions[0].text_start = low;
  regions[0].text_end = low + 128;
  regions[1].text_start = (unsigned long)gamma_;
  regions[1].text_end = regions[1].text_start + 128;
  regions[0].name = regions[1].name = 0;
  width = flag == PCTALLY_HPUX_UINT64 ? 8 : flag == PCTALLY_HPUX_UINT ? 4 : 2;
  pctally_hpux_smonitor(regions, 2, buffer, sizeof buffer, 0, flag);
}

static void aix_array(void) {
  static struct pctally_aix_prof ranges[3];
  ranges[0].p_low = (char*)low;
  ranges[0].p_high = (char*)low + 128;
  ranges[0].p_buff = (unsigned short*)buffer;
  ranges[1].p_low = (char*)gamma_;
  ranges[1].p_high = (char*)gamma_ + 128;
  ranges[1].p_buff = (unsigned short*)buffer + 64;
  ranges[0].p_bufsize = ranges[1].p_bufsize = 64;
  ranges[0].p_scale = ranges[1].p_scale = (unsigned)-1;
  pctally_aix_monitor(1, 0, ranges, -1, 0);
}

static void tru64_extended(void) {
  struct pctally_tru64_monitor_args ranges[2];
  ranges[0].lowpc = (void*)gamma_;
  ranges[0].highpc = (char*)gamma_ + 128;
  ranges[0].buffer = (unsigned*)buffer;
  ranges[1].lowpc = (void*)low;
  ranges[1].highpc = (char*)low + 128;
  ranges[1].buffer = (unsigned*)buffer + 32;
  ranges[0].bufsiz = ranges[1].bufsiz = 32 * sizeof(unsigned);
  width = 4;
  pctally_tru64_monitor(-1, 0, ranges, 2, 0);
}

static void begin(const char* call, unsigned words) {
  if (!strcmp(call, "svr4"))
    pctally_svr4_monitor((int (*)(void))low, (int (*)(void))high, (unsigned short*)buffer, words, 2);
  if (!strcmp(call, "hpux"))
    pctally_hpux_monitor((void (*)(void))low, (void (*)(void))high, (unsigned short*)buffer, (int)words, 0);
  if (!strcmp(call, "bsd"))
    pctally_bsd_monitor((int (*)(void))low, (int (*)(void))high, (short*)buffer, (int)words * 2, 0);
  if (!strcmp(call, "tru64")) pctally_tru64_monitor((long)low, (long)high, buffer, 2L * words, 0);
  if (!strcmp(call, "aix")) pctally_aix_monitor(low, high, buffer, (int)words, 0);
  if (!strcmp(call, "aix-array")) aix_array();
  if (!strcmp(call, "aix-start-pg")) pctally_aix_mondata.prof_type = 1;
  if (!strncmp(call, "aix-start", 9)) pctally_aix_monstartup(low, high);
  if (!strcmp(call, "aix-everything")) pctally_aix_monstartup((uintptr_t)-1, 0);
  if (!strcmp(call, "tru64-extended")) tru64_extended();
  if (!strcmp(call, "tru64-start")) pctally_tru64_monstartup((void*)low, (void*)high);
  if (!strcmp(call, "tru64-everything")) pctally_tru64_monstartup(0, 0);
  if (!strcmp(call, "bsd-start")) pctally_bsd_monstartup(low, high);
  if (!strcmp(call, "glibc-start")) pctally_glibc_monstartup(low, high);
  if (!strcmp(call, "hpux-16")) hpux_regions(PCTALLY_HPUX_USHORT);
  if (!strcmp(call, "hpux-32")) hpux_regions(PCTALLY_HPUX_UINT);
  if (!strcmp(call, "hpux-64")) hpux_regions(PCTALLY_HPUX_UINT64);
}

static unsigned long long sum(void) {
  unsigned long long total = 0, one;
  size_t i, head = strtoul(getenv("HEAD") ? getenv("HEAD") : "0", 0, 0);
  for (i = head; i + width <= sizeof buffer; i += width) {
    one = width == 2   ? *(unsigned short*)(buffer + i)
          : width == 4 ? *(unsigned*)(buffer + i)
                       : *(unsigned long long*)(buffer + i);
    total += one;
  }
  return total;
}

static void end(const char* call) {
  if (getenv("HALT")) pctally_aix_moncontrol(0);
  if (getenv("EXIT")) exit(0);
  if (!strncmp(call, "svr4", 4)) pctally_svr4_monitor(0, 0, 0, 0, 0);
  if (!strcmp(call, "hpux")) pctally_hpux_monitor(0, 0, 0, 0, 0);
  if (!strncmp(call, "hpux-", 5)) pctally_hpux_smonitor(0, 0, 0, 0, 0, 0);
  if (!strcmp(call, "bsd")) pctally_bsd_monitor(0, 0, 0, 0, 0);
  if (!strncmp(call, "tru64", 5) && !strstr(call, "start")) pctally_tru64_monitor(0, 0, 0, 0, 0);
  if (!strncmp(call, "aix", 3) && !strstr(call, "start")) pctally_aix_monitor(0, 0, 0, 0, 0);
}

/* What the account of the profil underneath says. */
static unsigned long long counted(const char* call) {
  struct pctally_tick_ledger ledger;
  char system[16] = "";
  strncpy(system, call, strcspn(call, "-") < 15 ? strcspn(call, "-") : 15);
  return pctally_profil_ledger(system, &ledger) == 0 ? ledger.counted : 0;
}

static void burn(void) {
  clock_t until = clock() + CLOCKS_PER_SEC;
  while (clock() < until) {
    alpha(60000);
    beta(20000);
    gamma_(10000);
  }
}

/* As after an exec(2) that has failed. */
static void vforks(void) {
  if (vfork() == 0) exit(0);
  count("alpha+4=5");
  pctally_glibc_mcleanup();
}

int main(int argc, char** argv) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  int i;
  (void)argc;
  low = (unsigned long)alpha < (unsigned long)beta ? (unsigned long)alpha : (unsigned long)beta;
  high = (unsigned long)fence;
  options.path = "monitored.pct";
  options.flags = PCTALLY_NO_TIMER | PCTALLY_OVERWRITE;
  if (!getenv("NO_RECORDING") && pctally_start(&options) != 0) return 2;
  begin(argv[1], getenv("WORDS") ? (unsigned)strtoul(getenv("WORDS"), 0, 0) : sizeof buffer / 2);
  for (i = 2; argv[i] != 0; i++)
    if (!strcmp(argv[i], "burn"))
      burn();
    else
      count(argv[i]);
  if (getenv("FORK") && fork() == 0) count("beta+4=5");
  if (getenv("VFORK")) vforks();
  end(argv[1]);
  pctally_stop();
  printf("%llu %llu\n", sum(), counted(argv[1]));
  return 0;
}
