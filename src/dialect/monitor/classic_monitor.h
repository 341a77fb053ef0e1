// monitor(3C) as System V has it and others took it over: one range of text, and one buffer of the caller's
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
  int (*profil)(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale);  ///< 0, or -1 and errno
};

struct ClassicArguments {
  uint64_t low;
  uint64_t high;  ///< the first byte behind the range
  void* buffer;
  size_t words;
  size_t call_counts;
  MonFormat format = MonFormat::kMonOut;
};

/// Clears the buffer and starts; a low of 0 ends and writes. Returns 0, or -1 with errno and nothing changed:
/// EINVAL (no room for one counter, or low >= high), EFAULT, or what the profil says.
int classic_monitor(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept;

/// As many counters as there are, spread over the text; 0 if that is too few.
uint32_t monitor_scale(uint64_t counters, uint64_t text_bytes, uint32_t one_to_one) noexcept;

/// The region that a profil() call makes, for the text alone. REQUIRES: a scale that is on.
Region monitor_region(const DialectPolicy& policy, const CellBuffer& buffer, uint64_t low, uint64_t high,
                      uint32_t scale) noexcept;

/// For a profil() without a result: calls it and looks at errno, which it leaves alone when nothing is wrong.
template <class Call>
int result_by_errno(Call call) noexcept {
  int before = errno;
  errno = 0;
  call();
  if (errno != 0) return -1;
  errno = before;
  return 0;
}

}  // namespace pctally
