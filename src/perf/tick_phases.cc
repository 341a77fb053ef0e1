#include "perf/tick_phases.h"

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

TickPhases::TickPhases(const Event& event, uint64_t period, bool randomise)
    : period_(period), timed_(event.is_cpu_time()), wanted_(randomise && timed_) {
  have_streams_ = wanted_ && period >= kShortestNs && period <= kLongestNs && has_descriptors();
  if (have_streams_) periods_ = draw_stream_periods(period, &random_);
}

std::vector<uint64_t> TickPhases::further_periods() const {
  if (!have_streams_) return {};
  return {periods_.begin() + 1, periods_.end()};
}

uint64_t TickPhases::draw_first_ticks(const std::vector<PerfRing*>& rings) {
  if (!timed_) return 0;
  if (period_ <= kLongestStartNs) return random_.below(period_);
  for (size_t i = 0; i < rings.size(); ++i) {
    first_ticks_.push_back({random_.below(period_), i});
    rings[i]->shift_phase(kLongestStartNs + first_ticks_[i].ns);
  }
  std::ranges::sort(first_ticks_, std::ranges::greater{}, &FirstTick::ns);
  return kLongestStartNs;
}

void TickPhases::begin(const std::vector<PerfRing*>& rings, uint64_t now_ns) {
  const auto has = [](const PerfRing* ring) { return !ring->streams().empty(); };
  have_streams_ = have_streams_ && std::ranges::all_of(rings, has);
  if (!have_streams_)
    for (PerfRing* ring : rings) ring->drop_streams();
  shifts_ = PhaseShifts(wanted_ && !have_streams_, period_, now_ns);
  start_ns_ = now_ns + kAloneNs;
  for (FirstTick& first : first_ticks_) first.ns += now_ns;
}

bool TickPhases::due(uint64_t now_ns) noexcept {
  if (!first_ticks_.empty()) return now_ns >= first_ticks_.back().ns;
  return have_streams_ ? !started_ && now_ns >= start_ns_ : shifts_.due(now_ns);
}

int TickPhases::ms_until_due(int most, uint64_t now_ns) const noexcept {
  if (first_ticks_.empty()) return most;
  const uint64_t due_ns = std::max(first_ticks_.back().ns, now_ns);
  return static_cast<int>(std::min(static_cast<uint64_t>(most), (due_ns - now_ns + 999999) / 1000000));
}

void TickPhases::move(const std::vector<PerfRing*>& rings) {
  if (!first_ticks_.empty()) {
    make_whole(rings, monotonic_ns());
  } else if (have_streams_) {
    start(rings);
    started_ = true;
  } else {
    for (PerfRing* ring : rings) ring->shift_phase(period_);
  }
}

void TickPhases::make_whole(const std::vector<PerfRing*>& rings, uint64_t now_ns) {
  for (; !first_ticks_.empty() && now_ns >= first_ticks_.back().ns; first_ticks_.pop_back())
    rings[first_ticks_.back().ring]->shift_phase(period_);
}

void TickPhases::start(const std::vector<PerfRing*>& rings) {
  const uint64_t longest = *std::ranges::max_element(periods_);
  std::vector<std::pair<uint64_t, int>>
      starts;  // each has its first tick a period later, when the others have
  for (const PerfRing* ring : rings) {
    for (size_t i = 0; i < ring->streams().size(); ++i)
      starts.emplace_back(longest - 1 - random_.below(periods_[i + 1]), ring->streams()[i].get());
  }
  std::ranges::sort(starts);
  uint64_t now = 0;
  for (const auto& [moment, fd] : starts) {
    sleep_ns(moment - now);
    now = moment;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, nullptr);
  }
  sleep_ns(longest - now);
  for (PerfRing* ring : rings) ring->shift_phase(periods_[0]);
}

}  // namespace pctally
