// The whole sweep as a program of its own, for machines without a test framework: prints what it compared,
// ends with 1 at a disagreement.   c++ -std=c++17 -O2 -I. -Isrc tests/oracle/index_sweep.cc
#include "tests/oracle/index_sweep.h"

#include <inttypes.h>
#include <stdio.h>

int main() {
  naive::IndexSweep sweep;
  sweep.everything();
  printf("%" PRIu64 " look-ups, %" PRIu64 " disagree\n", sweep.cases, sweep.mismatches);
  if (sweep.mismatches == 0) return 0;
  const pctally_bin_rule& rule = sweep.bad_rule;
  printf("first: family %d scale 0x%" PRIx32 " width %d shift %d flags %d cells 0x%" PRIx64
         " origin 0x%" PRIx64 " pc 0x%" PRIx64 "\n",
         rule.family, rule.scale, 1 << rule.cell_shift, rule.shift, rule.flags, rule.cells, rule.origin,
         sweep.bad_pc);
  return 1;
}
