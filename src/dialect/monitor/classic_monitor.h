// monitor(3C) of System V, which other systems took over: one range of code, and a buffer of the caller's
// that holds a header, the call counts and 16-bit counters, in this order, as mon.out does.
#pragma once
#include <errno.h>

#include "dialect/monitor/monitor.h"
#include "dialect/policy.h"

namespace pctally {

struct ClassicMonitor {
  Monitor& monitor;
  const DialectPolicy& policy;
  uint32_t one_to_one;  ///< the scale of one counter per two bytes
  bool has_header;      ///< the buffer begins with header and call counts; else it is all counters
  uint64_t most_bytes;  ///< of counters that the profil takes
  int (*profil)(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale);  ///< 0 or an errno
  bool until_exit = false;  ///< exit(3) writes the file, too
};

struct ClassicArguments {
  uint64_t low;
  uint64_t high;  ///< the first byte behind the range
  void* buffer;
  size_t words;
  size_t call_counts;
  MonFormat format = MonFormat::kMonOut;
};

/// Clears the buffer and starts; a low of 0 ends and writes the file. Returns 0 or an errno: EINVAL (no room
/// for one counter, too many, or low >= high) and EFAULT, and nothing has changed; or one of the profil,
/// EAGAIN or ENOMEM: what was on has ended.
int classic_monitor(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept;

/// The scale that spreads the counters over the text; 0 if there are too few, or if the system's profil does
/// not divide text by that scale.
uint32_t monitor_scale(const DialectPolicy& policy, uint64_t counters, uint64_t text_bytes,
                       uint32_t one_to_one) noexcept;

/// The region of a profil() call, ended at `high`. REQUIRES: a scale that is not "off".
Region monitor_region(const DialectPolicy& policy, const CellBuffer& buffer, uint64_t low, uint64_t high,
                      uint32_t scale) noexcept;

/// Calls a profil() without a result. Returns the errno that it has set; otherwise 0, and errno is as before.
template <class Call>
int errno_of(Call call) noexcept {
  int before = errno;
  errno = 0;
  call();
  if (errno != 0) return errno;
  errno = before;
  return 0;
}

}  // namespace pctally
