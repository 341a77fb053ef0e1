// The tick: a program counter and a weight go in, one cell is raised, the ledger is balanced.
//
// Runs in signal handlers. It calls nothing: a boundary test checks that the object has no undefined symbol.
// The handlers themselves are in clock/ and fault/; docs/signal-safety.md lists the system calls that they
// make.
#pragma once
#include "tick/region.h"

namespace pctally {

/// Counts one delivery of `weight` ticks at `pc`. Never waits, never faults on the table's own memory, calls
/// nothing. Any number of threads, signal handlers and processes at once. REQUIRES: weight >= 1.
TickOutcome tick(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept;

/// Counts `times` deliveries of one tick each at `pc`, as tick() called that often would. For ticks that were
/// added up elsewhere. REQUIRES: times >= 1.
TickOutcome tick_times(const RegionTable& table, uint64_t pc, uint64_t times) noexcept;

/// Resolves a tick that was deferred: counts it by `table`, which now knows more, or books it as outside. The
/// delivery itself was booked when it was deferred. Not for signal handlers of the same table's process.
TickOutcome resolve(const RegionTable& table, uint64_t pc, uint64_t weight) noexcept;

}  // namespace pctally
