// Why an event or its memory was refused, and what to do about it: the errno and the settings as read, never
// a guess.
#pragma once
#include <string>

#include "base/result.h"
#include "perf/target.h"

namespace pctally {

struct Refusal {
  std::string reason;
  std::string remedy;  ///< empty if none is known
};

/// Whether perf_event_open(2) refused: else it was the memory of the ring, or another call.
bool is_of_opening(const Error& error);

/// Explains why perf_event_open(2) refused an event on a process of one's own.
Refusal explain_refusal(int error);

/// The same of an event with its ring, whose memory mmap(2) may refuse.
Refusal explain_refusal(const Error& error);

/// The same for the events of `target`.
Refusal explain_refusal(int error, const Target& target);

/// What forbids perf events to this process, as a clause; empty if nothing is known to.
std::string perf_obstacle();

/// Why running processes cannot be observed, and what to do instead, in one line for the user. `error`: of
/// the events for `target`.
std::string explain_attach(int error, const Target& target);

/// True if a seccomp filter is installed in this process.
bool under_seccomp();

/// "ENOENT"
std::string error_name(int error);

}  // namespace pctally
