// Profiles with known ticks and call paths, for tests of what is written of them. For tests only.
#pragma once
#include "export/formats.h"
#include "report/fake_symbolizer_for_test.h"

namespace pctally {

inline Profile sample_profile() {
  Profile profile;
  profile.command = {"/bin/prog", "a b"};
  profile.period_ns = 1000000;
  profile.executables = {{ExecutableKind::kFile, "/x/y", {0xab, 0x01}, 0},
                         {ExecutableKind::kFile, "/bin/evil", {}, 0}};
  profile.positions = {{0, 0x110, 7}, {0, 0x211, 5}, {1, 0x300, 2}};
  profile.ledger = {.counted = 14, .outside = 3, .full = 1, .lost = 4, .samples = 22};
  return profile;
}

/// f1 calls f2, with something inlined at the call, and f2 calls f3.
inline Profile profile_with_callers() {
  Profile profile = sample_profile();
  CallPaths& paths = profile.paths;
  paths.recorded = true;
  paths.scopes = {{"/bin/prog", {}}};
  paths.context = {{.kind = PathNodeKind::kScope},
                   {.parent = 0, .kind = PathNodeKind::kCode, .position = 0x111},
                   {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x210},
                   {.parent = 2, .kind = PathNodeKind::kCode, .position = 0x300, .self = 12},
                   {.parent = 0, .kind = PathNodeKind::kCut, .position = 1, .self = 4},
                   {.parent = 1, .kind = PathNodeKind::kCode, .position = 0x400, .self = 1, .folded = 1}};
  return profile;
}

}  // namespace pctally
