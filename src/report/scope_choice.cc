#include "report/scope_choice.h"

#include <algorithm>

#include "report/part_of_profile.h"
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
PathTree below_chosen(const PathTree& tree, const std::vector<bool>& chosen, uint64_t* left_out) {
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

}  // namespace

std::optional<Profile> chosen_scopes(const Profile& profile, const ScopeChoice& choice) {
  const std::vector<bool> chosen = chosen_of(profile.paths, choice);
  if (std::ranges::find(chosen, true) == chosen.end()) return std::nullopt;
  const char* others = choice.group != nullptr    ? kOtherGroups
                       : choice.thread != nullptr ? kOtherThreads
                                                  : kOtherPrograms;
  BracketedPlaces places{};
  Profile result = part_of(profile, others, &places);
  uint64_t left_out = 0, of_plane = 0;
  result.paths.context = below_chosen(profile.paths.context, chosen, &left_out);
  result.paths.plane = below_chosen(profile.paths.plane, chosen, &of_plane);
  count_by_paths(places, left_out, &result);
  return result;
}

}  // namespace pctally
