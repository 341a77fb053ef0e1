// The call that all the profil(2)s share: one range, one buffer of 16-bit counters.
#pragma once
#include "dialect/policy.h"
#include "dialect/session.h"

namespace pctally {

/// Profiles one region; with a plan of no counters the session is on and counts nothing.
/// REQUIRES: a SessionLock, and a scale that means neither kOff nor kInvalid.
inline Result<void> start_one(Session& session, const DialectPolicy& policy, const CellBuffer& buffer,
                              uint64_t offset, uint32_t scale) noexcept {
  Region region = region_of(policy, buffer, offset, scale);
  return session.start({{&region, 1}, nullptr, policy.period_ns});
}

}  // namespace pctally
