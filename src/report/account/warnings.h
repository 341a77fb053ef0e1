// Warns, in plain sentences, of what a reader must know before trusting the table.
#pragma once
#include <string>
#include <vector>

#include "profile/profile.h"
#include "report/account/account.h"

namespace pctally {

enum class Severity {
  kNote,        ///< how to read the result
  kWarning,     ///< the result is less sure than it seems
  kIncomplete,  ///< part of what ran is not in the result
};

struct Warning {
  Severity severity = Severity::kNote;
  const char* id = "";  ///< for scripts: does not change with the words
  std::string text;     ///< the fact, the cause, the way out; may hold names: to be escaped
};

/// Whether the profile is of a part of what it was to be of: incomplete, not over, or a snapshot.
bool is_of_a_part(const Warning& warning);

inline constexpr double kFewSamples = 100;      ///< effective samples below which shares are rough
inline constexpr double kTolerableLoss = 0.01;  ///< of all ticks
inline constexpr uint64_t kLongestKernelTickNs = 10'000'000;
inline constexpr double kTolerableTheft = 0.01;    ///< taken by the machine's host, against CPU time
inline constexpr uint64_t kTheftNoise = 20000000;  ///< ns; the kernel reports it in pieces of 10 ms
inline constexpr double kTolerableGap = 0.05;      ///< unsampled CPU time, either sign; outside ticks

/// The gravest first; of the whole, where `profile` is a part.
std::vector<Warning> warnings_of(const Profile& profile, const Account& account);
/// Where nobody needs the account besides.
std::vector<Warning> warnings_of(const Profile& profile);

}  // namespace pctally
