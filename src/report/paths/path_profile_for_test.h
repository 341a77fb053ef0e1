// Profiles of call paths, written down node by node. For tests only.
#pragma once
#include <map>
#include <string>

#include "report/fake_symbolizer_for_test.h"
#include "report/path_choice.h"
#include "report/rollup.h"

namespace pctally {

/// Functions are a hundred bytes (hexadecimal) long: position 0x310 is a call in f3, 0x300 is f3 itself.
class PathProfile {
 public:
  PathProfile() {
    profile.executables.push_back({.path = "/bin/prog", .build_id = {}});
    profile.period_ns = 1000000;
    profile.closed = true;
    profile.paths.recorded = true;
    profile.paths.scopes.push_back({"/bin/prog", {}});
    profile.paths.context.push_back({.kind = PathNodeKind::kScope});
  }
  uint32_t add(uint32_t parent, uint64_t position, uint64_t self = 0, uint64_t folded = 0) {
    profile.paths.context.push_back({.parent = parent,
                                     .kind = PathNodeKind::kCode,
                                     .position = position,
                                     .self = self,
                                     .folded = folded});
    count(position, self + folded);
    return static_cast<uint32_t>(profile.paths.context.size() - 1);
  }
  /// The node of that place, made if it is not there.
  uint32_t child(uint32_t parent, uint64_t position) {
    for (uint32_t i = 0; i < profile.paths.context.size(); ++i)
      if (profile.paths.context[i].parent == parent && profile.paths.context[i].position == position)
        return i;
    return add(parent, position);
  }
  uint32_t add_cut(PathEnd end) {
    profile.paths.context.push_back(
        {.parent = 0, .kind = PathNodeKind::kCut, .position = static_cast<uint64_t>(end)});
    return static_cast<uint32_t>(profile.paths.context.size() - 1);
  }
  void add_plane(uint64_t position, uint64_t self) {
    PathTree& plane = profile.paths.plane;
    if (plane.empty()) plane.push_back({.kind = PathNodeKind::kScope});
    plane.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = position, .self = self});
  }
  [[nodiscard]] std::map<std::string, PathTotal> totals() const {
    std::map<std::string, PathTotal> totals;
    for (const Row& row : make_report(profile, &FakeSymbolizer::open, {}).rows)
      totals[row.function] = row.total;
    return totals;
  }

  Profile profile;

 private:
  void count(uint64_t position, uint64_t ticks) {
    if (ticks == 0) return;
    profile.positions.push_back({0, position, ticks});
    profile.ledger.counted += ticks;
    profile.ledger.samples += ticks;
    profile.ledger.weight_squares += static_cast<double>(ticks);
  }
};

/// Ticks of the paths that were chosen.
inline uint64_t chosen_ticks(const Profile& chosen) {
  uint64_t ticks = 0;
  for (const PathTreeNode& node : chosen.paths.context)
    if (node.kind != PathNodeKind::kCode || chosen.executables[node.executable].path != kLeftOut)
      ticks += node.self + node.folded;
  return ticks;
}

struct Chosen {
  Chosen(const Profile& profile, const char* focus, const char* ignore, const char* hide) {
    std::optional<NamePattern> patterns[3];
    const char* texts[] = {focus, ignore, hide};
    for (int i = 0; i < 3; ++i)
      if (texts[i] != nullptr) patterns[i] = std::move(*NamePattern::compile(texts[i]));
    ObjectNames names(profile, &FakeSymbolizer::open);
    const auto pointer = [](auto& pattern) { return pattern ? &*pattern : nullptr; };
    result = chosen_paths(profile, names, {pointer(patterns[0]), pointer(patterns[1]), pointer(patterns[2])})
                 .value();
    for (const Row& row : make_report(result, &FakeSymbolizer::open, {}).rows) {
      self[row.object.starts_with('[') ? row.object : row.function] = row.ticks;
      total[row.function] = row.total.low;
    }
  }
  Profile result;
  std::map<std::string, uint64_t> self, total;
};

/// main f1 calls f2 (10) and f3 (20), f3 calls f2 (5) too; f4 is called by nobody (7).
inline PathProfile two_ways() {
  PathProfile it;
  const uint32_t main = it.add(0, 0x110), through = it.add(main, 0x310);
  it.add(main, 0x200, 10);
  it.add(main, 0x300, 20);
  it.add(through, 0x200, 5);
  it.add(0, 0x400, 7);
  it.profile.ledger.outside = 1;  // it has a node, too
  it.add(0, 0x500, 1);
  it.profile.ledger.counted -= 1;
  return it;
}

}  // namespace pctally
