// Counts where every tick went. Lives in shared memory; each field only grows.
#pragma once
#include "tick/wide_counter.h"

namespace pctally {

/// ticks = counted + outside + full + lost, plus ticks deferred and not yet resolved (see deferred.h).
/// samples and weight_squares give the number of independent samples: one signal may carry several ticks
/// (1 + si_overrun), and an interval must count samples, not ticks.
struct Ledger {
  uint64_t counted;         ///< ticks in a cell
  uint64_t outside;         ///< ticks whose pc lies in no region
  uint64_t full;            ///< ticks that found a cell at its limit or the pool used up
  uint64_t lost;            ///< ticks the engine knows it dropped, and those whose cell's memory was gone
  uint64_t deferred;        ///< ticks put aside for a mapping not known at the tick
  uint64_t resolved;        ///< deferred ticks that have since been counted, or found outside or full
  uint64_t samples;         ///< deliveries (signals, ring records), each with a weight >= 1
  uint64_t weight_squares;  ///< sum of weight * weight over all deliveries
};
static_assert(sizeof(Ledger) == 64, "shared-memory layout");

/// Books one delivery with its outcome. Any thread, any signal handler.
inline void book_delivery(Ledger* ledger, uint64_t weight) noexcept {
  add_relaxed(&ledger->samples, 1);
  add_relaxed(&ledger->weight_squares, weight * weight);
}

/// Books deliveries of one tick each.
inline void book_deliveries(Ledger* ledger, uint64_t deliveries) noexcept {
  add_relaxed(&ledger->samples, deliveries);
  add_relaxed(&ledger->weight_squares, deliveries);
}

}  // namespace pctally
