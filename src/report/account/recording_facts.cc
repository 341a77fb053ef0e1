#include "report/account/recording_facts.h"

#include "profile/command.h"
#include "report/account/warnings.h"
#include "report/print/figures.h"

namespace pctally {

bool runs_in_program(const Profile& profile) {
  return !holds_for_any(profile,
                        [](const ProfileRun& run) { return run.engine == "bpf" || run.engine == "ring"; });
}

uint64_t longest(const Profile& profile, uint64_t ProfileRun::*field) {
  uint64_t value = profile.*field;
  for (const ProfileRun& run : profile.runs) value = std::max(value, run.*field);
  return value;
}

bool is_too_frequent(const Profile& profile) {
  constexpr uint64_t kShortestPeriodNs = 40000;
  return holds_for_any(profile, [](const ProfileRun& run) {
    return run.counts_cpu_time() && run.clock_tick_ns == 0 && run.period_ns < kShortestPeriodNs;
  });
}

uint64_t unobserved_ns(const Profile& profile, const std::string* note) {
  uint64_t sum = 0;
  for (const ProfileProcess& process : profile.processes)
    if (process.engine.empty() && (note == nullptr || process.note == *note)) sum += process.cpu_ns;
  return sum;
}

bool has_interrupted(const Profile& profile) {
  return std::ranges::any_of(profile.processes, [](const ProfileProcess& process) {
    return !process.engine.empty() && !process.note.empty() && process.pid != 0 && !process.sampled_again;
  });
}

bool has_unobserved(const Profile& profile) {
  return std::any_of(profile.processes.begin(), profile.processes.end(),
                     [](const ProfileProcess& process) { return process.engine.empty(); });
}

double stolen_percent(const Profile& profile, const Account& account) {
  auto cpu = static_cast<uint64_t>(std::max<int64_t>(0, account.cpu_ns));
  double stolen = percent_of(profile.stolen_ns, cpu);
  return profile.stolen_ns > kTheftNoise && stolen > 100 * kTolerableTheft ? stolen : 0;
}

bool has_events_of_threads(const Profile& profile) {
  return profile.engine == "ring" && profile.machine_cpus == 0;
}

/// An engine in the program is there from its start, but only of programs that record starts.
const char* for_short_ones(const Profile& profile) {
  constexpr uint64_t kPeriodForShortOnesNs = 125'000;  // -F 10000, and what is drawn near it
  const bool low = longest(profile, &ProfileRun::period_ns) > kPeriodForShortOnesNs;
  if (!has_command(profile)) return low ? "; try -F 10000" : "; as root, use -e bpf";
  return low ? "; try -F 10000 or -e timer" : "; try -e timer";
}

}  // namespace pctally
