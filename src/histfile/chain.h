// Walks along the chains of records in a profile file that other processes map writable.
//
//  1. Whoever maps the file may store anything into any word of it at any moment, by malice
//     or by a stray pointer.
//  2. So a walk takes a bounded number of steps: a record that links to itself costs time, never a hang.
//  3. Each link is loaded once and checked against the pool before it is followed.
//  4. A visitor loads each field it needs once, into a variable of its own, and checks that.
#pragma once
#include "histfile/profile_file.h"

namespace pctally {

/// Steps of a walk, and attempts at a compare-and-swap, inside a signal handler or a fork handler.
inline constexpr uint32_t kMostStepsInHandler = kMostAttempts;

/// Process records there can be in an undamaged file: racing processes may make a few too many for the rest.
inline constexpr uint32_t kMostProcessRecords = kMostProcesses + 256;

/// Objects of a file, and segments of an object, that are searched for one that exists already. Beyond them a
/// second record is made; readers add up.
inline constexpr uint32_t kMostObjectsSearched = 8192;
inline constexpr uint32_t kMostSegmentsSearched = 4096;

/// Calls visit(Record&, unit) for at most `bound` records of a chain, from its head on, until it returns
/// true. The unit that ended the walk so, or 0.
template <class Record, class Visit>
uint32_t walk_chain(const Pool& pool, const uint32_t* head, uint32_t bound, Visit&& visit) {
  uint32_t unit = __atomic_load_n(head, __ATOMIC_ACQUIRE);
  for (uint32_t step = 0; step < bound && pool_holds(pool, unit, sizeof(Record) / kUnitBytes); ++step) {
    auto* record = pool_at<Record>(pool, unit);
    if (visit(*record, unit)) return unit;
    unit = __atomic_load_n(&record->next, __ATOMIC_ACQUIRE);
  }
  return 0;
}

/// The same for the process records of a file, newest first, without those that were taken back.
template <class Visit>
uint32_t for_each_process(const ProfileFile& file, uint32_t bound, Visit&& visit) {
  return walk_chain<ProcessRecord>(file.pool(), &file.header().processes, bound,
                                   [&visit](ProcessRecord& record, uint32_t unit) {
                                     return (record.flags & kProcessTakenBack) == 0 && visit(record, unit);
                                   });
}

}  // namespace pctally
