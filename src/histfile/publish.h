// The waiting side of tick/publication.h: put a table into use, or take it out, without tearing a tick.
#pragma once
#include "tick/publication.h"

namespace pctally {

/// Makes a copy of `table` current. On return no tick uses the table that was current before: its regions may
/// be freed. One publisher at a time (the caller's lock); not from a signal handler.
void publish(PublishedTables* tables, const RegionTable& table) noexcept;

/// Turns ticks off. On return none is in flight.
void withdraw(PublishedTables* tables) noexcept;

/// For the child of a fork: ticks that were in flight in the parent's other threads do not exist here.
void forget_in_flight(PublishedTables* tables) noexcept;

}  // namespace pctally
