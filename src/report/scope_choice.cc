#include "report/scope_choice.h"

#include <algorithm>
#include <utility>

#include "report/part_of_profile.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

enum class Fate { kChosen, kUnknown, kOther };

Fate fate_of(const NamePattern* pattern, const std::string& name, const std::string& path = "") {
  if (pattern == nullptr || pattern->matches(name) || pattern->matches(path)) return Fate::kChosen;
  const bool known =
      name != kProgramNotKnown && name != kThreadNotKnown && name != kGroupNotKnown && name != kOtherScopes;
  return known ? Fate::kOther : Fate::kUnknown;
}

std::vector<Fate> fates_of(const CallPaths& paths, const ScopeChoice& choice) {
  const std::vector<ScopeName> names = scope_names(paths);
  std::vector<Fate> fates;
  for (size_t i = 0; i < names.size(); ++i)
    fates.push_back(
        std::max({fate_of(choice.program, names[i].program, paths.scopes[i].name),
                  fate_of(choice.thread, names[i].thread), fate_of(choice.group, names[i].group)}));
  return fates;
}

/// Ticks that were not chosen.
struct NotChosen {
  uint64_t others = 0, unknown = 0, not_read = 0;
};

bool is_not_read(const PathTreeNode& node) {
  return node.kind == PathNodeKind::kCut && node.position == static_cast<uint64_t>(PathEnd::kInterrupted);
}

/// The nodes below the roots of chosen scopes, and the ticks of the others.
PathTree below_chosen(const PathTree& tree, const std::vector<Fate>& fates, NotChosen* not_chosen) {
  PathTree part;
  std::vector<uint32_t> moved(tree.size());
  std::vector<Fate> fate(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    PathTreeNode node = tree[i];
    const bool is_root = node.parent == PathTreeNode::kNoParent;
    const bool is_known = node.kind == PathNodeKind::kScope && node.position < fates.size();
    fate[i] = !is_root ? fate[node.parent] : is_known ? fates[node.position] : Fate::kUnknown;
    if (fate[i] != Fate::kChosen) {
      (fate[i] == Fate::kOther ? not_chosen->others
       : is_not_read(node)     ? not_chosen->not_read
                               : not_chosen->unknown) += node.self + node.folded;
      continue;
    }
    moved[i] = static_cast<uint32_t>(part.size());
    if (!is_root) node.parent = moved[node.parent];
    part.push_back(node);
  }
  return part;
}

/// They may be of what was asked for, and are no others'.
void add_unknown(const char* name, uint64_t ticks, Profile* part) {
  if (ticks == 0) return;
  part->paths.context.push_back({.kind = PathNodeKind::kCode,
                                 .executable = static_cast<uint32_t>(part->executables.size()),
                                 .self = ticks});
  part->executables.emplace_back().path = name;
}

}  // namespace

std::optional<Profile> chosen_scopes(const Profile& profile, const ScopeChoice& choice) {
  const std::vector<Fate> fates = fates_of(profile.paths, choice);
  if (std::ranges::find(fates, Fate::kChosen) == fates.end()) return std::nullopt;
  const auto [others, unknown] = choice.group != nullptr    ? std::pair(kOtherGroups, kGroupNotKnown)
                                 : choice.thread != nullptr ? std::pair(kOtherThreads, kThreadNotKnown)
                                                            : std::pair(kOtherPrograms, kProgramNotKnown);
  BracketedPlaces places{};
  Profile result = part_of(profile, others, &places);
  NotChosen not_chosen, of_plane;
  result.paths.context = below_chosen(profile.paths.context, fates, &not_chosen);
  result.paths.plane = below_chosen(profile.paths.plane, fates, &of_plane);
  add_unknown(unknown, not_chosen.unknown, &result);
  add_unknown(kNotRead, not_chosen.not_read, &result);
  count_by_paths(places, not_chosen.others, &result);
  return result;
}

}  // namespace pctally
