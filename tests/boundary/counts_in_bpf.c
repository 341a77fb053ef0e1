/* The index rule as a BPF program would use it: one region, one 64-bit counter raised. */
#include "tick/bin_index.h"

struct bpf_region {
  struct pctally_bin_rule rule;
  pctally_u64 counters[64];
};

int count_pc(struct bpf_region* region, pctally_u64 pc) {
  pctally_u64 index;
  if (!pctally_bin_index(&region->rule, pc, &index) || index >= 64) return 0;
  __sync_fetch_and_add(&region->counters[index], 1);
  return 1;
}
