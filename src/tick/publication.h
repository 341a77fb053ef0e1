// Two table slots and a count of ticks in flight in each: how a table is replaced under running ticks.
//
//   tick        enter the current slot, check again, use it, leave         never waits
//   publisher   wait until the spare slot is empty, fill it, make it current, wait until the old one is empty
//
// A tick that entered a slot just as it went out of use finds that when it checks and enters again; it
// repeats at most once per publication. The waiting side is histfile/publish.
#pragma once
#include "tick/region.h"

namespace pctally {

inline constexpr uint32_t kTableSlots = 2;
inline constexpr uint32_t kNoTable = kTableSlots;  ///< value of `current` while profiling is off

struct PublishedTables {
  uint32_t current = kNoTable;
  uint32_t in_flight[kTableSlots] = {};
  RegionTable slots[kTableSlots] = {};
  bool may_fault =
      false;  ///< the cells are the program's own memory, which it may take away; set once, at the start
};

/// tick() by the current table. Returns false, and does nothing, if there is none or a tick has turned it
/// off. Any number of threads and signal handlers.
bool tick_published(PublishedTables* tables, uint64_t pc, uint64_t weight) noexcept;

/// Counts ticks that were read off a clock: no delivery is booked, for they are no sample. Returns as
/// tick_published() does. REQUIRES: ticks >= 1.
bool count_published(PublishedTables* tables, uint64_t pc, uint64_t ticks) noexcept;

/// Enters the table in use, for those who do more with it than count a tick; kNoTable if there is none. What
/// was entered is to be left.
uint32_t enter_table(PublishedTables* tables) noexcept;
void leave_table(PublishedTables* tables, uint32_t slot) noexcept;

/// Books ticks whose place is not known as lost, where tick_published() would have counted them.
void lost_published(PublishedTables* tables, uint64_t weight) noexcept;

}  // namespace pctally
