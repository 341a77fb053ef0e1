// Lets a process survive that somebody else cuts the profile file it has mapped.
//
// The kernel answers an access behind the new end with SIGBUS. Our SIGBUS handler replaces the mapping with
// zeroed memory whose header says "ended". The faulting access is retried there, and later ticks are ignored.
// Faults elsewhere go to the handler that was there before. A tick needs nothing for this but that the signal
// is not blocked (PublishedTables::may_fault).
#pragma once
#include "base/status.h"
#include "histfile/profile_file.h"

namespace pctally {

/// Guards the file's memory from now on; of several files the last. A program that ignores SIGBUS goes on
/// without: what it executes would inherit a handler's default. One caller at a time; not from a signal
/// handler. Errors: as put_in_front().
Status guard_file(const ProfileFile& file) noexcept;

/// To be called before the memory is given back.
void unguard_file() noexcept;

}  // namespace pctally
