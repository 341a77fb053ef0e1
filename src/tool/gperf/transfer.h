// The host's side of the transfer: programs that can be asked, and the counters they send.
//
// Treats the program as hostile: what it announces is bounded before memory is taken for it.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

struct GperfSegment {
  uint64_t text_start = 0;
  std::vector<uint16_t> counters;  ///< one for each 4 bytes of text
};

struct GperfCounts {
  uint32_t period_us = 0;
  uint32_t overflow = 0;
  std::vector<GperfSegment> segments;
};

/// A program whose I/O thread answered.
struct GperfProgram {
  pid_t pid = 0;
  std::string socket;
};

/// Programs of this user with a socket, the newest first. Sockets of programs that are gone are removed.
std::vector<GperfProgram> gperf_programs();

/// Asks a program for its counters.
Result<GperfCounts> query(const GperfProgram& program);

/// Receives what a program sends; ask first if it is a query.
Result<GperfCounts> receive_counts(UniqueFd connection, bool ask);

}  // namespace pctally
