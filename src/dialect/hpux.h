// What smonitor(3C) of HP-UX needs of the profile of its system, beyond sprofil(2).
#pragma once
#include <span>

#include "tick/region.h"

namespace pctally {

/// As sprofil() of these regions, each with its own end: one of sprofil ends where its counters do, which may
/// lie in the next one's text. REQUIRES: regions that ascend and are disjoint. Returns 0, EAGAIN or ENOMEM.
[[nodiscard]] int hpux_profile_regions(std::span<const Region> regions) noexcept;

}  // namespace pctally
