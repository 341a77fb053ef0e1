// Raises the limit of descriptors of this process. A recording takes some per thread and CPU, more than a
// usual soft limit allows; the command gets the limit that its user set.
#pragma once
#include <errno.h>
#include <stddef.h>

#include "base/result.h"

namespace pctally {

/// What is said where there are too few, and what to do.
inline constexpr char kTooManyFiles[] = "too many open files";
inline constexpr char kRaiseFileLimit[] = "raise ulimit -n";

/// Both, as an EMFILE.
inline std::unexpected<Error> too_many_files() {
  return fail(EMFILE, "%s; %s", kTooManyFiles, kRaiseFileLimit);
}

/// To as many as this process may ever have (the hard limit). Not for threads.
void raise_descriptor_limit() noexcept;

/// Back to what it was before raise_descriptor_limit(), for a program to be executed. Async-signal-safe.
void restore_descriptor_limit() noexcept;

/// True if `count` more can be had now.
bool has_descriptors_left(size_t count);

}  // namespace pctally
