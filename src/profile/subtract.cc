#include "profile/subtract.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "base/tick_excess.h"

namespace pctally {
namespace {

auto build_of(const Executable& executable) {
  return std::tie(executable.kind, executable.path, executable.build_id, executable.owner, executable.stamp);
}

struct ByBuild {
  bool operator()(const Executable* a, const Executable* b) const { return build_of(*a) < build_of(*b); }
};

constexpr uint32_t kNotThere = UINT32_MAX;

uint64_t beyond(uint64_t later, uint64_t earlier) { return later > earlier ? later - earlier : 0; }

/// For each executable of `profile` the range of its positions: [first, last).
std::vector<std::pair<size_t, size_t>> ranges_of(const Profile& profile) {
  std::vector<std::pair<size_t, size_t>> ranges(profile.executables.size(), {0, 0});
  for (size_t i = 0; i < profile.positions.size(); ++i) {
    auto& [first, last] = ranges[profile.positions[i].executable];
    if (last == 0) first = i;
    last = i + 1;
  }
  return ranges;
}

/// Both ranges ascend: one walk.
void subtract_range(std::pair<size_t, size_t> later, std::pair<size_t, size_t> earlier,
                    const std::vector<WeightedPosition>& old, std::vector<WeightedPosition>* positions) {
  size_t at = earlier.first;
  for (size_t i = later.first; i < later.second; ++i) {
    WeightedPosition& position = (*positions)[i];
    while (at < earlier.second && old[at].position < position.position) ++at;
    if (at < earlier.second && old[at].position == position.position)
      position.ticks = beyond(position.ticks, old[at].ticks);
  }
}

void subtract_positions(const Profile& earlier, Profile* result) {
  std::map<const Executable*, size_t, ByBuild> known;
  for (size_t i = 0; i < earlier.executables.size(); ++i) known.emplace(&earlier.executables[i], i);
  auto old_ranges = ranges_of(earlier), ranges = ranges_of(*result);
  for (size_t i = 0; i < ranges.size(); ++i)
    if (auto found = known.find(&result->executables[i]); found != known.end())
      subtract_range(ranges[i], old_ranges[found->second], earlier.positions, &result->positions);
}

/// One pid may have been several processes: matched by turn. Rows that stand for many have pid 0 and are
/// matched by name; they may have taken in what was a process of its own before.
void subtract_processes(const Profile& earlier, Profile* result) {
  using Key = std::pair<int32_t, std::string>;
  auto key = [](const ProfileProcess& process) -> Key {
    return {process.pid, process.pid == 0 ? process.comm : std::string()};
  };
  std::map<std::pair<Key, unsigned>, const ProfileProcess*> old;
  std::map<Key, unsigned> turns;
  for (const ProfileProcess& process : earlier.processes)
    old[{key(process), turns[key(process)]++}] = &process;
  turns.clear();
  for (ProfileProcess& process : result->processes) {
    auto found = old.find({key(process), turns[key(process)]++});
    if (found == old.end()) continue;
    process.ticks = beyond(process.ticks, found->second->ticks);
    old.erase(found);
  }
  std::map<std::string, uint64_t> taken_in;
  for (const auto& [id, process] : old) taken_in[process->comm] += process->ticks;
  for (ProfileProcess& process : result->processes)
    if (process.pid == 0) process.ticks = beyond(process.ticks, std::exchange(taken_in[process.comm], 0));
}

/// Whether a node was folded into its parent since, and came again: then all that it has is new.
bool came_again(const PathTreeNode& earlier, const PathTreeNode& later, uint64_t folded_into_parent) {
  const bool lacks = later.self < earlier.self || later.folded < earlier.folded;
  return lacks && folded_into_parent >= earlier.self + earlier.folded;
}

/// For each node of `earlier` the one of `later`, or kNotThere: it was folded since.
std::vector<uint32_t> places_in(const PathTree& later, const PathTree& earlier,
                                const std::vector<uint32_t>& place, const std::vector<uint32_t>& scope) {
  std::map<PathTreeNode::Key, uint32_t> known;
  for (uint32_t i = 0; i < later.size(); ++i) known.emplace(later[i].key(), i);
  std::vector<uint32_t> moved(earlier.size(), kNotThere);
  for (uint32_t i = 0; i < earlier.size(); ++i) {
    const PathTreeNode& node = earlier[i];
    const bool is_root = node.parent == PathTreeNode::kNoParent;
    if (!is_root && moved[node.parent] == kNotThere) continue;
    const uint32_t executable = node.kind == PathNodeKind::kCode ? place[node.executable] : 0;
    const bool is_scope = node.kind == PathNodeKind::kScope && node.position < scope.size();
    const uint64_t position = is_scope ? scope[node.position] : node.position;
    const auto found = known.find(
        {is_root ? node.parent : moved[node.parent], node.kind, executable, position, node.is_end});
    if (found == known.end()) continue;
    const uint64_t folded_into_parent =
        is_root ? 0 : beyond(later[moved[node.parent]].folded, earlier[node.parent].folded);
    if (!came_again(node, later[found->second], folded_into_parent)) moved[i] = found->second;
  }
  return moved;
}

/// A path that was folded since has its earlier ticks in what is folded into a parent. Children come before
/// their parents.
void subtract_tree(const PathTree& earlier, const std::vector<uint32_t>& place,
                   const std::vector<uint32_t>& scope, PathTree* later) {
  const std::vector<uint32_t> moved = places_in(*later, earlier, place, scope);
  std::vector<uint64_t> folded(earlier.size());  // into the node, since
  for (size_t i = earlier.size(); i-- > 0;) {
    const PathTreeNode& node = earlier[i];
    if (moved[i] != kNotThere) {
      PathTreeNode& own = (*later)[moved[i]];
      own.self = beyond(own.self, node.self);
      own.folded = beyond(own.folded, node.folded + folded[i]);
    } else if (node.parent != PathTreeNode::kNoParent) {
      folded[node.parent] += node.self + node.folded + folded[i];
    }
  }
}

void subtract_paths(const Profile& earlier, Profile* result) {
  std::map<const Executable*, size_t, ByBuild> executables;
  std::map<PathScope, size_t> scopes;
  for (size_t i = 0; i < result->executables.size(); ++i) executables.emplace(&result->executables[i], i);
  for (size_t i = 0; i < result->paths.scopes.size(); ++i) scopes.emplace(result->paths.scopes[i], i);
  std::vector<uint32_t> place, scope;
  for (const Executable& executable : earlier.executables) {
    const auto found = executables.find(&executable);
    place.push_back(found == executables.end() ? kNotThere : static_cast<uint32_t>(found->second));
  }
  for (const PathScope& old : earlier.paths.scopes) {
    const auto found = scopes.find(old);
    scope.push_back(found == scopes.end() ? kNotThere : static_cast<uint32_t>(found->second));
  }
  subtract_tree(earlier.paths.context, place, scope, &result->paths.context);
  subtract_tree(earlier.paths.plane, place, scope, &result->paths.plane);
  result->paths.no_room = beyond(result->paths.no_room, earlier.paths.no_room);
}

void subtract_ledger(const TickLedger& earlier, Profile* result) {
  TickLedger& ledger = result->ledger;
  ledger.counted = 0;
  for (const WeightedPosition& position : result->positions) ledger.counted += position.ticks;
  ledger.outside = beyond(ledger.outside, earlier.outside);
  ledger.full = beyond(ledger.full, earlier.full);
  ledger.lost = beyond(ledger.lost, earlier.lost);
  ledger.samples = beyond(ledger.samples, earlier.samples);
  ledger.weight_squares = std::max(ledger.weight_squares - earlier.weight_squares, 0.0);
}

}  // namespace

Profile subtract(const Profile& later, const Profile& earlier) {
  Profile result = later;
  subtract_positions(earlier, &result);
  subtract_processes(earlier, &result);
  subtract_ledger(earlier.ledger, &result);
  if (result.paths.has_scopes()) subtract_paths(earlier, &result);
  take_tick_excess(&result.processes, result.ledger.counted + result.ledger.outside + result.ledger.full);
  result.duration_ns = beyond(later.duration_ns, earlier.duration_ns);
  result.stolen_ns = beyond(later.stolen_ns, earlier.stolen_ns);
  result.throttled = beyond(later.throttled, earlier.throttled);
  result.cpu_known = false;
  result.cpu_user_ns = result.cpu_system_ns = 0;
  return result;
}

}  // namespace pctally
