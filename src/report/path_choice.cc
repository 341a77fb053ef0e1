#include "report/path_choice.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "report/names/short_name.h"
#include "report/part_of_profile.h"
#include "report/path_totals.h"

namespace pctally {
namespace {

/// For each function whether the pattern is found in one of its names.
std::vector<bool> found_in(const NamePattern* pattern, const std::vector<PathFunction>& functions) {
  std::vector<bool> found(functions.size());
  for (size_t i = 0; pattern != nullptr && i < functions.size(); ++i) {
    const auto& [full, linkage] = std::tie(functions[i].key.function, functions[i].linkage);
    found[i] = pattern->matches(full) || pattern->matches(linkage) ||
               pattern->matches(short_function_name(full, linkage));
  }
  return found;
}

class Choice {
 public:
  Choice(const Profile& profile, ObjectNames& names, const PathChoice& choice)
      : old_(profile.paths.context),
        functions_(path_functions(profile, names)),
        any_focus_(choice.focus != nullptr),
        focus_(found_in(choice.focus, functions_.functions)),
        ignore_(found_in(choice.ignore, functions_.functions)),
        hide_(found_in(choice.hide, functions_.functions)),
        result_(part_of(profile, kLeftOut, &places_)) {
    result_.paths.context.clear();
    result_.paths.plane.clear();
  }

  [[nodiscard]] bool finds_focus() const {
    return !any_focus_ || std::ranges::find(focus_, true) != focus_.end();
  }

  Profile run() {
    std::vector<Seen> seen(old_.size());
    for (size_t i = 0; i < old_.size(); ++i) {
      if (old_[i].parent != PathTreeNode::kNoParent) seen[i] = seen[old_[i].parent];
      if (old_[i].parent == PathTreeNode::kNoParent) seen[i].root = static_cast<uint32_t>(i);
      update(static_cast<uint32_t>(i), &seen[i]);
      keep(old_[i], seen[i]);
    }
    count_by_paths(places_, left_out_, &result_);
    return std::move(result_);
  }

 private:
  /// What lies between the root and a node, itself included.
  struct Seen {
    bool focus = false, ignore = false;
    uint32_t root = 0;
    uint32_t shown = PathTreeNode::kNoParent;  ///< the innermost old node that is shown
  };

  void update(uint32_t node, Seen* seen) const {
    if (const uint32_t function = functions_.context[node]; function != PathFunctions::kNone) {
      seen->focus = seen->focus || focus_[function];
      seen->ignore = seen->ignore || ignore_[function];
    }
    if (is_shown(node)) seen->shown = node;
  }

  [[nodiscard]] bool is_shown(uint32_t node) const {
    const uint32_t function = functions_.context[node];
    return function == PathFunctions::kNone || !hide_[function];
  }

  void keep(const PathTreeNode& node, const Seen& seen) {
    if (node.self + node.folded == 0) return;
    const bool chosen = (!any_focus_ || seen.focus) && !seen.ignore && seen.shown != PathTreeNode::kNoParent;
    if (!chosen) return leave_out(node, seen);
    const uint32_t shown = copy_of(seen.shown);
    if (old_[seen.shown].kind == PathNodeKind::kScope && node.kind != PathNodeKind::kScope) {
      result_.paths.context[left_out_of(shown)].self += node.self + node.folded;
      return;
    }
    result_.paths.context[shown].self += node.self;
    result_.paths.context[shown].folded += node.folded;
  }

  /// The inner functions of folded paths are not known: they may be what is asked for.
  void leave_out(const PathTreeNode& node, const Seen& seen) {
    const bool may_match = any_focus_ && !seen.focus && !seen.ignore;
    left_out_ += node.self + (may_match ? 0 : node.folded);
    if (!may_match || node.folded == 0) return;
    PathTreeNode unknown;
    unknown.parent = copy_of(seen.root);
    unknown.kind = PathNodeKind::kCode;
    unknown.executable = places_.inner_not_kept;
    result_.paths.context[added(unknown)].folded += node.folded;
  }

  /// The node for a scope's paths whose functions are all hidden: they stay the scope's.
  uint32_t left_out_of(uint32_t scope) {
    PathTreeNode node;
    node.parent = scope;
    node.kind = PathNodeKind::kCode;
    node.executable = places_.left_out;
    return added(node);
  }

  uint32_t added(const PathTreeNode& node) {
    auto [same, fresh] = by_key_.try_emplace(node.key(), static_cast<uint32_t>(result_.paths.context.size()));
    if (fresh) result_.paths.context.push_back(node);
    return same->second;
  }

  /// The new node of an old one that is shown. It is made, with those above it, when it is first needed.
  /// Nodes that differ by hidden frames alone become one.
  uint32_t copy_of(uint32_t old) {
    if (auto found = copies_.find(old); found != copies_.end()) return found->second;
    PathTreeNode node = old_[old];
    node.self = node.folded = 0;
    while (node.parent != PathTreeNode::kNoParent && !is_shown(node.parent))
      node.parent = old_[node.parent].parent;
    if (node.parent != PathTreeNode::kNoParent) node.parent = copy_of(node.parent);
    return copies_[old] = added(node);
  }

  const PathTree& old_;
  PathFunctions functions_;
  bool any_focus_;
  std::vector<bool> focus_, ignore_, hide_;  ///< per function
  BracketedPlaces places_{};
  Profile result_;
  uint64_t left_out_ = 0;
  std::map<uint32_t, uint32_t> copies_;
  std::map<PathTreeNode::Key, uint32_t> by_key_;
};

}  // namespace

std::optional<Profile> chosen_paths(const Profile& profile, ObjectNames& names, const PathChoice& choice) {
  Choice chosen(profile, names, choice);
  if (!chosen.finds_focus()) return std::nullopt;
  return chosen.run();
}

}  // namespace pctally
