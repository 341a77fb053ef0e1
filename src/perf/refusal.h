// Why perf_event_open(2) refused, and what to do about it: the errno and the settings as read, never a guess.
#pragma once
#include <string>

#include "perf/target.h"

namespace pctally {

struct Refusal {
  std::string reason;
  std::string remedy;  ///< empty if none is known
};

/// Explains why an event on a process of one's own was refused.
Refusal explain_refusal(int error);

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
