// Why perf_event_open(2) refused, and what to do about it: the errno and the settings as read, never a guess.
#pragma once
#include <string>

#include "perf/target.h"

namespace pctally {

struct Refusal {
  std::string reason;
  std::string remedy;  ///< empty if none is known
};

/// Of an event on a process of one's own.
Refusal explain_refusal(int error);

/// Of the events for `target`.
Refusal explain_refusal(int error, const Target& target);

/// "ENOENT"
std::string error_name(int error);

}  // namespace pctally
