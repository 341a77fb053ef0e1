// The event that ticks count: a period of CPU time, or a number of events of a kind that the kernel counts.
#pragma once
#include <linux/perf_event.h>
#include <stdint.h>

#include <string>
#include <string_view>
#include <vector>

namespace pctally {

/// A value; the name is a literal.
struct Event {
  const char* name;  ///< perf(1)'s; fits FileHeader::event
  uint32_t type;     ///< PERF_TYPE_SOFTWARE or PERF_TYPE_HARDWARE
  uint64_t config;
  uint64_t usual_count;  ///< events per tick, if no number is asked for; 0: the period is one of CPU time

  [[nodiscard]] bool is_cpu_time() const noexcept { return usual_count == 0; }
};

inline constexpr Event kCpuTime = {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 0};

/// The event perf(1) knows by that name or abbreviation ("page-faults", "cs"); null if there is none.
const Event* find_event(std::string_view name) noexcept;

/// All names that find_event() knows.
std::vector<std::string> event_names();

/// Attributes of an event, still disabled, that ticks once every `period` (ns of CPU time, or events);
/// `kernel`: in kernel mode too. The caller sets what else it is to do.
perf_event_attr tick_attributes(const Event& event, uint64_t period, bool kernel) noexcept;

/// Why this machine cannot count the event and what to do instead, found out by trying. Empty if it can, or
/// if nobody may ask it: the engines say that.
std::string explain_absence(const Event& event);

}  // namespace pctally
