// Chooses the size of rings that carry copies of stacks, and how much of its stack each tick copies.
#pragma once
#include "perf/ring.h"

namespace pctally {

inline constexpr uint32_t kStacksInARing = 16;           ///< at least: it is emptied when it is half full
inline constexpr uint32_t kLargestStackCopy = 32 << 10;  ///< complete for every tick of sqlite3, git, python3

/// Shares what this user may lock (RLIMIT_MEMLOCK, kernel.perf_event_mlock_kb) evenly among the CPUs, and
/// sets ring_pages and stack_bytes of *settings: 4 MiB (32 MiB for events that are not CPU time) and 32 KiB,
/// or less.
void choose_stack_room(PerfSettings* settings);

}  // namespace pctally
