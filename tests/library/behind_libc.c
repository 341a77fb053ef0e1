/* A library that is linked with ours, in a program that is not: the dynamic linker puts the C library before
   ours, and the next definition of its functions is not behind ours. */
#include <pctally/pctally.h>
#include <pctally/svr4.h>
#include <stdint.h>
#include <unistd.h>

int record_itself(void);

static int has_ticks(void) {
  struct pctally_tick_ledger ledger = {0};
  while (ledger.counted < 3)
    if (pctally_ledger(&ledger) != 0) return 0;
  return 1;
}

/* 0 if a recording and a profil count ticks, and end. */
int record_itself(void) {
  static unsigned short counter[1];
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "behind_libc.pct";
  options.flags = PCTALLY_OVERWRITE;
  if (pctally_start(&options) != 0) return 1;
  unlink(options.path);
  if (!has_ticks()) return 2;
  if (pctally_stop() != 0) return 3;
  pctally_svr4_profil(counter, sizeof counter, 0, 2);
  while (*(volatile unsigned short*)counter == 0) {
  }
  pctally_svr4_profil(counter, sizeof counter, 0, 0);
  return 0;
}
