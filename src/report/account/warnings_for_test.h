// A recording without a fault, and matchers of what is said of one that has some. For tests only.
#pragma once
#include <gmock/gmock.h>

#include "report/account/warnings.h"

namespace pctally {

inline Profile trusty() {
  Profile profile;
  profile.closed = profile.cpu_known = profile.kernel_observed = true;
  profile.period_ns = 1'000'000;
  profile.duration_ns = 1'500'000'000;
  profile.cpu_user_ns = 1'000'000'000;
  profile.ledger = {.counted = 1000, .samples = 1000, .weight_squares = 1000};
  profile.processes = {{.pid = 1, .parent = 0, .comm = "a", .engine = "ring", .note = "", .ticks = 1000}};
  return profile;
}

inline std::vector<Warning> warnings(const Profile& profile) { return warnings_of(profile); }

inline auto is(Severity severity, const char* text) {
  using namespace ::testing;
  return AllOf(Field(&Warning::severity, severity), Field(&Warning::text, HasSubstr(text)),
               Field(&Warning::id, Not(StrEq(""))));
}

}  // namespace pctally
