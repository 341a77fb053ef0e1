// Lets a process survive that somebody else cuts the profile file it has mapped.
//
// The kernel answers an access behind the new end with SIGBUS. A handler in front of the program's own then
// puts empty memory in the place of the whole file, in which the recording has ended: the access is repeated
// there, and the ticks to come are none. Faults elsewhere go to whoever had the signal before. Nothing is
// asked of a tick for it, but that the signal is not blocked (PublishedTables::may_fault).
#pragma once
#include "histfile/profile_file.h"

namespace pctally {

/// Guards the file's memory from now on; of several files the last. A program that ignores SIGBUS goes on
/// without: what it executes would inherit a handler's default. One caller at a time; not from a signal
/// handler. Errors: as put_in_front().
Result<void> guard_file(const ProfileFile& file) noexcept;

/// To be called before the memory is given back.
void unguard_file() noexcept;

}  // namespace pctally
