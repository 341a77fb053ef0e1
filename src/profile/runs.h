// The recordings of a merged profile, and what follows from them for the whole.
#pragma once
#include <optional>
#include <span>

#include "profile/profile.h"

namespace pctally {

/// The engine of runs of different ones.
inline constexpr char kSeveralEngines[] = "several";

/// What a tick of runs together stands for: their period where all have the same, else 1. So a sum of ticks
/// is whole, and depends on the runs alone, not on their order. REQUIRES: runs is not empty.
uint64_t common_period(std::span<const ProfileRun> runs);

/// The ledgers' sum in ticks of `period`, a common_period(). Nothing if it is more than a file may hold.
std::optional<TickLedger> sum_of_ledgers(std::span<const ProfileRun> runs, uint64_t period);

/// Fills what `merged` has of ProfileRun from its runs, but for the ledger: times are sums, and what the runs
/// do not have in common is empty or 0. Known, closed and so on are those that hold for all of them.
/// REQUIRES: there are runs.
void sum_up_runs(Profile* merged);

}  // namespace pctally
