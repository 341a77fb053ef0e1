#include "perf/tick_streams.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/time_ns.h"

namespace pctally {
namespace {

constexpr uint64_t kShortestNs = 200000;  ///< of all together: nobody sleeps that often
constexpr uint64_t kLongestNs = 4000000;  ///< a longer one finds hardly a sleep within its slack

/// The recorder needs others: the events take a quarter at most.
bool has_descriptors() noexcept {
  rlimit limit{};
  const auto cpus = static_cast<rlim_t>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF)));
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (kStreams - 1) * cpus <= limit.rlim_cur / 4;
}

}  // namespace

TickStreams::TickStreams(const Event& event, uint64_t period, Random* random)
    : wanted_(event.is_cpu_time() && period >= kShortestNs && period <= kLongestNs && has_descriptors()) {
  if (wanted_) periods_ = draw_stream_periods(period, random);
}

std::vector<uint64_t> TickStreams::further_periods() const {
  if (!wanted_) return {};
  return {periods_.begin() + 1, periods_.end()};
}

bool TickStreams::due(uint64_t now_ns) noexcept {
  if (!wanted_) return false;
  if (start_ns_ == 0) start_ns_ = now_ns + kAloneNs;
  if (now_ns < start_ns_) return false;
  wanted_ = false;
  return true;
}

void TickStreams::start(const std::vector<PerfRing*>& rings, Random* random) const {
  const uint64_t longest = *std::ranges::max_element(periods_);
  std::vector<std::pair<uint64_t, int>>
      starts;  // each has its first tick a period later, when the others have
  for (const PerfRing* ring : rings) {
    for (size_t i = 0; i < ring->streams().size(); ++i)
      starts.emplace_back(longest - 1 - random->below(periods_[i + 1]), ring->streams()[i].get());
  }
  std::ranges::sort(starts);
  uint64_t now = 0;
  for (const auto& [moment, fd] : starts) {
    sleep_ns(moment - now);
    now = moment;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, nullptr);
  }
  sleep_ns(longest - now);
  for (PerfRing* ring : rings)
    if (!ring->streams().empty()) ring->shift_phase(periods_[0]);
}

}  // namespace pctally
