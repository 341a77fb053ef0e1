#include "perf/throttle.h"

#include <algorithm>
#include <utility>

#include "base/kernel/kernel_setting.h"
#include "base/time_ns.h"

namespace pctally {
uint64_t perf_max_sample_rate() noexcept {
  return static_cast<uint64_t>(kernel_setting("/proc/sys/kernel/perf_event_max_sample_rate", 0));
}

ThrottleMeter::ThrottleMeter(const Event& event, uint64_t period)
    : timed_(event.is_cpu_time()),
      period_(std::max<uint64_t>(1, period)),
      kernel_tick_ns_(kernel_tick_ns()) {}

void ThrottleMeter::apply(const PerfRecord& record) {
  if (record.kind == PerfRecord::Kind::kThrottle) {
    ++stops_;
    stopped_[record.stream] = record.time;
  } else if (record.kind == PerfRecord::Kind::kUnthrottle) {
    auto stop = stopped_.find(record.stream);
    if (stop == stopped_.end()) return;
    resume(stop->second, record.time);
    stopped_.erase(stop);
  }
}

void ThrottleMeter::finish(uint64_t now) {
  for (const auto& [stream, since] : std::exchange(stopped_, {})) resume(since, now);
}

/// A thread's event that was stopped may have waited for its thread besides.
void ThrottleMeter::resume(uint64_t since, uint64_t until) {
  auto ns = static_cast<double>(std::min(until > since ? until - since : 0, kernel_tick_ns_));
  if (timed_) {
    missed_ += ns / (static_cast<double>(period_) * events_);
    return;
  }
  auto tick_ns = static_cast<double>(kernel_tick_ns_);
  double allowed = std::max(1.0, static_cast<double>(perf_max_sample_rate()) * tick_ns * 1e-9);
  missed_ += allowed * ns / std::max(tick_ns - ns, tick_ns * 1e-3);
}

double ThrottleMeter::take_missed() noexcept { return std::exchange(missed_, 0); }

}  // namespace pctally
