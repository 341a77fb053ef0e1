#include "report/scope_choice.h"

#include <algorithm>

#include "profile/positions.h"
#include "report/path_choice.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

std::vector<bool> chosen_of(const CallPaths& paths, const ScopeChoice& choice) {
  const std::vector<ScopeName> names = scope_names(paths);
  std::vector<bool> chosen;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = [](const NamePattern* pattern, const std::string& name) {
      return pattern == nullptr || pattern->matches(name);
    };
    chosen.push_back(
        (found(choice.program, names[i].program) || found(choice.program, paths.scopes[i].name)) &&
        found(choice.thread, names[i].thread) && found(choice.group, names[i].group));
  }
  return chosen;
}

/// The nodes below the roots of chosen scopes, and the ticks of the others.
PathTree part_of(const PathTree& tree, const std::vector<bool>& chosen, uint64_t* left_out) {
  constexpr uint32_t kNotKept = PathTreeNode::kNoParent;
  PathTree part;
  std::vector<uint32_t> moved;
  for (PathTreeNode node : tree) {
    const bool is_root = node.parent == PathTreeNode::kNoParent;
    const bool kept =
        is_root ? node.kind == PathNodeKind::kScope && node.position < chosen.size() && chosen[node.position]
                : moved[node.parent] != kNotKept;
    moved.push_back(kept ? static_cast<uint32_t>(part.size()) : kNotKept);
    if (!kept) {
      *left_out += node.self + node.folded;
      continue;
    }
    if (!is_root) node.parent = moved[node.parent];
    part.push_back(node);
  }
  return part;
}

/// Executables that stand for what has no place of its own.
struct Pseudo {
  uint32_t others, not_kept, no_function;
};

Pseudo add_pseudo(const char* others, Profile* profile) {
  const auto first = static_cast<uint32_t>(profile->executables.size());
  for (const char* name : {others, kInnerNotKept, kNoFunction}) {
    Executable added;
    added.path = name;
    profile->executables.push_back(std::move(added));
  }
  return {first, first + 1, first + 2};
}

/// The ticks as the tree tells them.
void count_positions(const Pseudo& pseudo, Profile* profile) {
  std::vector<WeightedPosition>& positions = profile->positions;
  positions.clear();
  uint64_t sum = 0;
  for (const PathTreeNode& node : profile->paths.context) {
    const bool is_code = node.kind == PathNodeKind::kCode;
    if (node.self != 0)
      positions.push_back(
          {is_code ? node.executable : pseudo.no_function, is_code ? node.position : 0, node.self});
    if (node.folded != 0) positions.push_back({pseudo.not_kept, 0, node.folded});
    sum += node.self + node.folded;
  }
  add_up(&positions);
  TickLedger& ledger = profile->ledger;
  const uint64_t all = ledger.counted + ledger.outside + ledger.full;
  ledger.counted = std::min(all, sum);
  ledger.outside = all - ledger.counted;  // without a node
  ledger.full = 0;
  profile->paths.no_room = 0;
}

}  // namespace

std::optional<Profile> chosen_scopes(const Profile& profile, const ScopeChoice& choice) {
  const std::vector<bool> chosen = chosen_of(profile.paths, choice);
  if (std::ranges::find(chosen, true) == chosen.end()) return std::nullopt;
  Profile result = profile;
  uint64_t left_out = 0, of_plane = 0;
  result.paths.context = part_of(profile.paths.context, chosen, &left_out);
  result.paths.plane = part_of(profile.paths.plane, chosen, &of_plane);
  const char* others = choice.group != nullptr    ? kOtherGroups
                       : choice.thread != nullptr ? kOtherThreads
                                                  : kOtherPrograms;
  const Pseudo pseudo = add_pseudo(others, &result);
  if (left_out != 0) {
    PathTreeNode node;
    node.kind = PathNodeKind::kCode;
    node.executable = pseudo.others;
    node.self = left_out;
    result.paths.context.push_back(node);
  }
  count_positions(pseudo, &result);
  return result;
}

}  // namespace pctally
