#include "dialect/monitor/classic_monitor.h"

#include <string.h>

#include "dialect/caller_memory.h"
#include "dialect/session.h"
#include "monfile/mon_scale.h"

namespace pctally {
namespace {

constexpr size_t kWord = sizeof(uint16_t);

size_t head_words(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept {
  if (!system.has_header) return 0;
  return (sizeof(MonHeader) + arguments.call_counts * sizeof(MonCallCount)) / kWord;
}

/// The histogram in the buffer; no counters if it does not fit. Counters beyond the text are left unused: a
/// reader takes the width of one from how many there are.
MonHistogram lay_out(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept {
  MonHistogram histogram{
      .low = arguments.low, .high = arguments.high, .calls = nullptr, .call_counts = 0, .counters = {}};
  if (arguments.call_counts > arguments.words) return histogram;
  size_t room = arguments.words, head = head_words(system, arguments);
  if (head >= room) return histogram;
  if (system.has_header) {
    histogram.calls = static_cast<unsigned char*>(arguments.buffer) + sizeof(MonHeader);
    histogram.call_counts = arguments.call_counts;
  }
  uint64_t wanted = (arguments.high - arguments.low + 1) / kWord;
  size_t counters = room - head < wanted ? room - head : wanted;
  histogram.counters = {static_cast<uint16_t*>(arguments.buffer) + head, counters};
  return histogram;
}

/// 0 or an errno.
int start(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept
    REQUIRES(g_monitors_mutex) {
  if (arguments.low >= arguments.high || arguments.words > SIZE_MAX / kWord) return EINVAL;
  MonHistogram histogram = lay_out(system, arguments);
  uint32_t scale = monitor_scale(system.policy, histogram.counters.size(), arguments.high - arguments.low,
                                 system.one_to_one);
  if (scale == 0 || histogram.counters.size_bytes() > system.most_bytes) return EINVAL;
  if (!writable(arguments.buffer, arguments.words * kWord)) return EFAULT;
  auto* counters = static_cast<uint16_t*>(arguments.buffer) + head_words(system, arguments);
  if (answers_only()) return 0;
  system.monitor.drop();
  memset(arguments.buffer, 0, arguments.words * kWord);
  MonHeader header{static_cast<uintptr_t>(arguments.low), static_cast<uintptr_t>(arguments.high),
                   arguments.call_counts};
  if (system.has_header) memcpy(arguments.buffer, &header, sizeof header);
  if (int error = system.profil(counters, histogram.counters.size_bytes(), arguments.low, scale); error != 0)
    return error;
  CellBuffer buffer{counters, histogram.counters.size_bytes()};
  Region region = monitor_region(system.policy, buffer, arguments.low, arguments.high, scale);
  return system.monitor.keep({.regions = {&region, 1},
                              .format = arguments.format,
                              .histogram = histogram,
                              .until_exit = system.until_exit});
}

}  // namespace

int classic_monitor(const ClassicMonitor& system, const ClassicArguments& arguments) noexcept {
  CallLock lock(g_monitors_mutex);
  if (arguments.low != 0) return start(system, arguments);
  system.monitor.finish();
  return 0;
}

uint32_t monitor_scale(const DialectPolicy& policy, uint64_t counters, uint64_t text_bytes,
                       uint32_t one_to_one) noexcept {
  auto scale = static_cast<uint32_t>(mon_scale(counters, text_bytes));
  if (scale == kMonOneToOne) return one_to_one;
  return scale < 2 || meaning_of(policy, scale) == ScaleMeaning::kOneCell ? 0 : scale;
}

Region monitor_region(const DialectPolicy& policy, const CellBuffer& buffer, uint64_t low, uint64_t high,
                      uint32_t scale) noexcept {
  Region region = region_of(policy, buffer, low, scale);
  if (region.last >= high) region.last = high - 1;
  return region;
}

}  // namespace pctally
