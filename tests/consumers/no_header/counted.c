/* 0 if the profile of SYSTEM was on and has ticks. */
#include <pctally/pctally.h>
#include <stdio.h>

int counted(void) {
  struct pctally_tick_ledger ledger;
  int known = pctally_profil_ledger(SYSTEM, &ledger) == 0;
  printf("%s: %llu ticks\n", SYSTEM, known ? (unsigned long long)ledger.ticks : 0);
  return !(known && ledger.ticks > 0);
}
