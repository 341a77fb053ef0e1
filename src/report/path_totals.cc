#include "report/path_totals.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>

namespace pctally {
namespace {

using CodePlace = std::pair<uint32_t, uint64_t>;  // executable, position

/// All places in code of both trees, ascending, each once.
std::vector<CodePlace> places_of(const CallPaths& paths) {
  std::vector<CodePlace> places;
  for (const PathTree* tree : {&paths.context, &paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) places.emplace_back(node.executable, node.position);
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// Names places of one executable, all of `positions`.
void name_places(const Profile& profile, uint32_t executable, std::span<const uint64_t> positions,
                 ObjectNames& names, std::vector<PathFunction>* functions) {
  const bool is_private = profile.executables[executable].kind == ExecutableKind::kPrivate;
  std::vector<NamedRange> ranges = names.symbolizer(executable).name(positions);
  ranges.resize(positions.size());
  for (NamedRange& range : ranges) {
    PathFunction function;
    function.key = {names.shown(executable), std::move(range.function), is_private ? 0 : executable,
                    is_private ? 0 : range.start};
    function.linkage = std::move(range.linkage);
    if (!is_private) function.address = range.address != 0 ? range.address : range.start;
    functions->push_back(std::move(function));
  }
}

std::vector<PathFunction> functions_at(const Profile& profile, const std::vector<CodePlace>& places,
                                       ObjectNames& names) {
  constexpr size_t kBatch = 1 << 15;
  std::vector<PathFunction> functions;
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < places.size();) {
    const uint32_t executable = places[i].first;
    positions.clear();
    for (; i < places.size() && places[i].first == executable && positions.size() < kBatch; ++i)
      positions.push_back(places[i].second);
    name_places(profile, executable, positions, names, &functions);
  }
  return functions;
}

/// What the totals of things that are not functions of their own are made of.
struct Sums {
  std::vector<uint32_t> on_path;  ///< how often each thing is on the path at hand
  std::vector<uint64_t> known, folded_inside, cut_inside;
};

/// Where the call plane has a single entry for a function in a scope, its ticks are exact.
void narrow_by_plane(const PathTree& plane, const std::vector<uint32_t>& things,
                     std::vector<PathTotal>* totals) {
  struct Entries {
    uint64_t sum = 0, largest = 0;
  };
  std::map<std::pair<uint32_t, uint32_t>, Entries> entries;  // thing, scope
  for (uint32_t i = 0; i < plane.size(); ++i) {
    const uint32_t parent = plane[i].parent;
    if (parent == PathTreeNode::kNoParent || plane[parent].kind != PathNodeKind::kScope) continue;
    if (things[i] == PathFunctions::kNone) continue;
    Entries& entry = entries[{things[i], parent}];
    entry.sum += plane[i].self;
    entry.largest = std::max(entry.largest, plane[i].self);
  }
  std::map<uint32_t, Entries> all;
  for (const auto& [key, entry] : entries) {
    all[key.first].sum += entry.sum;
    all[key.first].largest += entry.largest;
  }
  for (const auto& [thing, entry] : all) {
    PathTotal& total = (*totals)[thing];
    total.low = std::max(total.low, entry.largest);
    total.high = std::max(total.low, std::min(total.high, entry.sum));
  }
}

}  // namespace

PathFunctions path_functions(const Profile& profile, ObjectNames& names) {
  PathFunctions result;
  const std::vector<CodePlace> places = places_of(profile.paths);
  std::vector<PathFunction> found = functions_at(profile, places, names);
  std::map<FunctionKey, uint32_t> known;
  std::vector<uint32_t> of_place;
  for (PathFunction& function : found) {
    const auto [entry, fresh] =
        known.try_emplace(function.key, static_cast<uint32_t>(result.functions.size()));
    if (fresh) result.functions.push_back(std::move(function));
    of_place.push_back(entry->second);
  }
  const auto functions_of = [&](const PathTree& tree) {
    std::vector<uint32_t> ids(tree.size(), PathFunctions::kNone);
    for (size_t i = 0; i < tree.size(); ++i) {
      if (tree[i].kind != PathNodeKind::kCode) continue;
      const auto place =
          std::lower_bound(places.begin(), places.end(), CodePlace(tree[i].executable, tree[i].position));
      ids[i] = of_place[static_cast<size_t>(place - places.begin())];
    }
    return ids;
  };
  result.context = functions_of(profile.paths.context);
  result.plane = functions_of(profile.paths.plane);
  return result;
}

std::vector<uint64_t> ticks_below(const PathTree& tree) {
  std::vector<uint64_t> ticks(tree.size());
  for (size_t i = tree.size(); i-- > 0;) {
    ticks[i] += tree[i].self + tree[i].folded;
    if (tree[i].parent != PathTreeNode::kNoParent) ticks[tree[i].parent] += ticks[i];
  }
  return ticks;
}

PathChildren children_of(const PathTree& tree) {
  PathChildren children;
  children.first.assign(tree.size(), PathChildren::kNone);
  children.next.assign(tree.size(), PathChildren::kNone);
  for (size_t i = tree.size(); i-- > 0;) {
    const auto number = static_cast<uint32_t>(i);
    if (tree[i].parent == PathTreeNode::kNoParent) {
      children.roots.push_back(number);
      continue;
    }
    children.next[i] = children.first[tree[i].parent];
    children.first[tree[i].parent] = number;
  }
  return children;
}

std::vector<PathTotal> path_totals(const CallPaths& paths, size_t count, const std::vector<uint32_t>& context,
                                   const std::vector<uint32_t>& plane) {
  const PathTree& tree = paths.context;
  const std::vector<uint64_t> below = ticks_below(tree);
  std::vector<uint64_t> folded_below(tree.size());
  std::vector<bool> is_cut(tree.size());
  uint64_t folded = 0, cut = 0;
  for (size_t i = tree.size(); i-- > 0;) {
    folded += tree[i].folded;
    folded_below[i] += tree[i].folded;
    if (tree[i].parent != PathTreeNode::kNoParent) folded_below[tree[i].parent] += folded_below[i];
    if (tree[i].kind == PathNodeKind::kCut) cut += below[i];
  }
  for (size_t i = 0; i < tree.size(); ++i)
    is_cut[i] = tree[i].kind == PathNodeKind::kCut ||
                (tree[i].parent != PathTreeNode::kNoParent && is_cut[tree[i].parent]);
  Sums sums{std::vector<uint32_t>(count), std::vector<uint64_t>(count), std::vector<uint64_t>(count),
            std::vector<uint64_t>(count)};
  walk_paths(
      tree,
      [&](uint32_t node) {
        const uint32_t thing = context[node];
        if (thing == PathFunctions::kNone || sums.on_path[thing]++ != 0) return;
        sums.known[thing] += below[node];
        sums.folded_inside[thing] += folded_below[node];
        if (is_cut[node]) sums.cut_inside[thing] += below[node];
      },
      [&](uint32_t node) {
        if (context[node] != PathFunctions::kNone) --sums.on_path[context[node]];
      });
  std::vector<PathTotal> totals(count);
  for (size_t i = 0; i < count; ++i)
    totals[i] = {sums.known[i], sums.known[i] + folded - sums.folded_inside[i], cut - sums.cut_inside[i]};
  if (!plane.empty()) narrow_by_plane(paths.plane, plane, &totals);
  return totals;
}

}  // namespace pctally
