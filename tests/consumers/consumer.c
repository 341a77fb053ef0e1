/* What a C program does with the library: record itself for a while and look at the account. */
#include <pctally/pctally.h>
#include <stdio.h>

static int complain(const char* what) {
  fprintf(stderr, "%s: %s\n", what, pctally_error());
  return 1;
}

int main(int argc, char** argv) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  struct pctally_tick_ledger ledger;
  if (argc != 2) return 2;

  options.path = argv[1];
  options.flags = PCTALLY_OVERWRITE;
  if (pctally_start(&options) != 0) return complain("pctally_start");
  if (pctally_count((const void*)(size_t)&complain, 3) != 0) return complain("pctally_count");

  if (pctally_stop() != 0) return complain("pctally_stop");
  if (pctally_ledger(&ledger) != 0) return complain("pctally_ledger");
  if (ledger.counted < 3 || ledger.ticks != ledger.counted + ledger.outside + ledger.full + ledger.lost) {
    fprintf(stderr, "%lu ticks, %lu counted\n", (unsigned long)ledger.ticks, (unsigned long)ledger.counted);
    return 1;
  }
  printf("pctally %s, engine %s\n", pctally_version(), pctally_engine());
  return 0;
}
