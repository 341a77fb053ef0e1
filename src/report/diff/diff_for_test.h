// Runs with known ticks, and their comparison. For tests only.
#pragma once
#include <gtest/gtest.h>

#include <string_view>

#include "report/diff/diff.h"
#include "report/fake_symbolizer_for_test.h"

namespace pctally {

/// A run of one object whose function number i (of 0x100 bytes each) has ticks[i] ticks of 1 ms.
inline Profile run_of(const std::vector<uint64_t>& ticks, std::vector<uint8_t> build_id = {1},
                      const char* path = "/x/y") {
  Profile profile;
  profile.period_ns = profile.period_asked_ns = 1000000;
  profile.closed = true;
  profile.executables.push_back({ExecutableKind::kFile, path, std::move(build_id), 0});
  for (size_t i = 0; i < ticks.size(); ++i) {
    if (ticks[i] == 0) continue;
    profile.positions.push_back({0, 0x100 * i + 8, ticks[i]});
    profile.ledger.counted += ticks[i];
  }
  profile.ledger.samples = profile.ledger.counted;
  return profile;
}

/// The same, where f1 calls all others: each path is main, or main and a function.
inline Profile with_paths(Profile profile) {
  profile.paths.recorded = true;
  PathTree& tree = profile.paths.context;
  tree.push_back({.kind = PathNodeKind::kScope});
  tree.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = 0x108});
  for (const WeightedPosition& position : profile.positions)
    if (position.position / 0x100 == 1)
      tree[1].self = position.ticks;
    else
      tree.push_back(
          {.parent = 1, .kind = PathNodeKind::kCode, .position = position.position, .self = position.ticks});
  return profile;
}

inline Diff diff_of(const std::vector<Profile>& before, const std::vector<Profile>& after,
                    const DiffOptions& options = {}) {
  auto diff = make_diff(before, after, &FakeSymbolizer::open, options);
  EXPECT_TRUE(diff) << diff.error().text;
  return diff ? *diff : Diff{};
}

inline DiffRow row_of(const Diff& diff, std::string_view name) {
  for (const DiffRow& row : diff.rows)
    if (row.name == name) return row;
  ADD_FAILURE() << "no row " << name;
  return diff.rows.at(0);
}

}  // namespace pctally
