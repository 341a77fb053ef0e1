// Accounts for the CPU time: cpu = sampled + lost + unsampled, in whole nanoseconds. For other events it
// counts those that the ticks stand for; the number not sampled is not known.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "profile/profile.h"

namespace pctally {

struct Account {
  int64_t sampled_ns = 0;      ///< (counted + outside + full) * period
  int64_t lost_ns = 0;         ///< lost * period
  int64_t cpu_ns = 0;          ///< user + system, measured outside the engine; valid if cpu_known
  int64_t unsampled_ns = 0;    ///< cpu - sampled - lost exactly; slightly negative when the last ticks round
                               ///< up, or by chance
  int64_t chance_ns = 0;       ///< half of the 95 % interval of sampled_ns; 0: chance has no part
  int64_t sampled_events = 0;  ///< where ticks are not CPU time, in place of the times but cpu_ns
  int64_t lost_events = 0;
  int64_t rounding_ns = 0;  ///< two ticks: unsampled time below that says nothing
  bool cpu_known = false;
  double asked_hz = 0;      ///< 0 if unknown, or not of CPU time
  double delivered_hz = 0;  ///< deliveries per second of CPU time (of sampled time where that is unknown)
  double effective_samples = 0;  ///< independent samples the shares rest on; see
                                 ///< report/statistics/interval.h
};

/// If `profile` is a part of another one (chosen paths or scopes), the account is that of the whole.
Account account_of(const Profile& profile);

/// A part of the unsampled time whose reason the file tells.
struct UnsampledPart {
  const char* reason;
  int64_t ns;
};

/// Those above 0, of all processes. Measured in the program: they need not add up to the unsampled time.
std::vector<UnsampledPart> unsampled_parts(const Profile& profile);

/// Ticks of "[process start]", which were read off a clock, not sampled: with the kernel's part of it.
uint64_t start_ticks(const Profile& profile);

/// Processes that were observed and have no tick.
struct TicklessProcesses {
  uint64_t number = 0;
  bool more = false;    ///< perhaps: the file has one row for older processes of a program
  std::string program;  ///< the one that most of `number` ran
  uint64_t most = 0;    ///< so many of them
};
TicklessProcesses tickless_processes(const Profile& profile);

/// By how much shares may be wrong, at most, because ticks come at the same moments after each start of a
/// thread or process: each of these may have one tick too many or too few in a function. 0 to 1.
double in_step_share(const Profile& profile);

/// Whether that is so much, of so many starts, that the shares are in doubt.
bool has_starts_in_step(const Profile& profile);

/// ticks * period, in nanoseconds (or events), at most what an int64_t holds.
int64_t duration_of(uint64_t ticks, uint64_t period_ns);

/// Unsampled time as a share of the CPU time, 0 if that is unknown.
double unsampled_share(const Account& account);

/// The same, as near to 0 as chance and whole ticks allow.
double unsampled_beyond_chance(const Account& account);

/// What one of its ticks is: a "tick"; in a sum of runs whose periods differ, or samples of another tool that
/// stand for different times, a "nanosecond", or an "event".
const char* tick_word(const Profile& profile);

/// A sum of CPU time of runs, or of samples of another tool, whose periods differ.
bool ticks_are_nanoseconds(const ProfileRun& run);

/// A sum of events of runs whose periods differ: the amounts are the ticks.
bool ticks_are_events(const Profile& profile);

/// Ticks are single nanoseconds, or events, and no ticks of a recording: recorded() has another number.
bool is_in_single_units(const Profile& profile);

/// What the recordings counted: ticks, each of its recording's own period; or samples, where ticks of one of
/// them are nanoseconds, and of that one its samples.
struct Recorded {
  uint64_t number = 0;
  const char* word = "tick";  ///< or "sample"
};
Recorded recorded(const Profile& profile);

/// The title of a column with their number: "ticks", "ns" or "events".
std::string tick_number_title(const Profile& profile);

/// The title of a column with tick_figure(): "ticks", "time" or "events".
std::string tick_title(const Profile& profile);

/// "1,203", or "996.7 ms" where ticks are nanoseconds.
std::string tick_figure(const Profile& profile, uint64_t ticks);

/// The same for tables, where numbers are not grouped: "1203", or "996.7 ms".
std::string tick_cell(const Profile& profile, uint64_t ticks);

/// "1,203 ticks", "996.7 ms", "1,203 events"
std::string counted_ticks(const Profile& profile, uint64_t ticks);

/// "990 of 1,203 ticks", "990.9 of 1023.0 ms", "990 of 1,203 events": both in the unit of the whole.
std::string part_of_ticks(const Profile& profile, uint64_t part, uint64_t whole);

inline double seconds(int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

}  // namespace pctally
