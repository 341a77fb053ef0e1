// What the warnings about a recording rest on.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "profile/profile.h"
#include "report/account/account.h"

namespace pctally {

/// In a sum of runs whose periods differ a tick stands for 1 ns: each run says what its own ticks were.
template <class Judge>
bool holds_for_any(const Profile& profile, const Judge& judge) {
  return profile.runs.empty() ? judge(profile) : std::ranges::any_of(profile.runs, judge);
}

/// True if no run is by an engine that observes from outside.
bool runs_in_program(const Profile& profile);

/// True if the ticks are those of perf events of the threads' own: the kernel starts the period anew in each.
bool has_events_of_threads(const Profile& profile);

/// The largest value of a field in the runs.
uint64_t longest(const Profile& profile, uint64_t ProfileRun::*field);

/// Ticks so close together that an interrupt and its return can take as long: some of them find the one
/// before still at work. The timers of the kernel's own clock do not come more often than it.
bool is_too_frequent(const Profile& profile);

/// CPU time of processes without an engine, as far as it is known: until they were last read. With `note`: of
/// those that have it.
uint64_t unobserved_ns(const Profile& profile, const std::string* note = nullptr);

/// True if a process was observed, but not to the end or not all the time.
bool has_interrupted(const Profile& profile);

bool has_unobserved(const Profile& profile);

/// CPU time that the machine's host took meanwhile, in percent of the CPU time used; 0 if within its noise.
double stolen_percent(const Profile& profile, const Account& account);

/// "; try ..." where starts of threads or processes lack ticks: what samples more of them.
const char* for_short_ones(const Profile& profile);

}  // namespace pctally
