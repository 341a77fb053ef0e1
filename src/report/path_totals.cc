#include "report/path_totals.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>

#include "report/names/innermost.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

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
void name_places(uint32_t executable, std::span<const uint64_t> positions, ObjectNames& names,
                 std::vector<PathFunction>* functions) {
  std::vector<NamedRange> ranges = names.symbolizer(executable).name(positions);
  for (NamedRange& range : ranges) {
    PathFunction function;
    function.key = function_key(names, executable, std::move(range.function), range.start);
    function.address = table_address(names, executable, range);
    function.linkage = std::move(range.linkage);
    functions->push_back(std::move(function));
  }
}

std::vector<PathFunction> functions_at(const std::vector<CodePlace>& places, ObjectNames& names) {
  constexpr size_t kBatch = 1 << 15;
  std::vector<PathFunction> functions;
  std::vector<uint64_t> positions;
  for (size_t i = 0; i < places.size();) {
    const uint32_t executable = places[i].first;
    positions.clear();
    for (; i < places.size() && places[i].first == executable && positions.size() < kBatch; ++i)
      positions.push_back(places[i].second);
    name_places(executable, positions, names, &functions);
  }
  return functions;
}

uint32_t part_at(const std::vector<uint32_t>& parts, size_t i) { return parts.empty() ? 0 : parts[i]; }

size_t count_of_parts(const PathThings& things) {
  uint32_t most = 0;
  for (const auto* parts : {&things.part, &things.context_part, &things.plane_part})
    for (uint32_t part : *parts) most = std::max(most, part);
  return size_t{most} + 1;
}

/// What the call plane says of things: an entry is a part of its thing, and what found no room may be.
class PlaneBounds {
 public:
  PlaneBounds(const PathTree& plane, const PathThings& things)
      : things_(things), folded_(count_of_parts(things)) {
    for (uint32_t i = 0; i < plane.size(); ++i) {
      const uint32_t parent = plane[i].parent;
      if (parent == PathTreeNode::kNoParent) folded_[part_at(things.plane_part, i)] += plane[i].folded;
      if (is_function_of_scope(plane, plane[i]) && things.plane[i] != PathFunctions::kNone)
        add(things.plane[i], parent, plane[i].self);
    }
    for (const auto& [key, entries] : scopes_) add_up(key, entries, plane[key.second].folded);
  }

  /// A function with a single entry in each of its scopes is known exactly.
  void narrow(std::vector<PathTotal>* totals) const {
    for (const auto& [thing, known] : things_with_entries_) {
      PathTotal& total = (*totals)[thing];
      const uint64_t folded = folded_[part_at(things_.part, thing)];
      total.low = std::max(total.low, known.least);
      total.high = std::max(total.low, std::min(total.high, known.most + folded - known.complete));
    }
  }

 private:
  struct Entries {
    uint64_t sum = 0, largest = 0, count = 0;
  };
  struct Known {
    uint64_t least = 0, most = 0;
    uint64_t complete = 0;  ///< folded ticks of scopes in which none of them is the thing's
  };

  void add(uint32_t thing, uint32_t scope, uint64_t ticks) {
    Entries& entries = scopes_[{thing, scope}];
    entries.sum += ticks;
    entries.largest = std::max(entries.largest, ticks);
    ++entries.count;
  }
  void add_up(const std::pair<uint32_t, uint32_t>& key, const Entries& entries, uint64_t folded) {
    Known& known = things_with_entries_[key.first];
    known.least += entries.largest;
    known.most += entries.sum;
    if (things_.functions && entries.count == 1) known.complete += folded;
  }

  const PathThings& things_;
  std::vector<uint64_t> folded_;                             ///< of each part
  std::map<std::pair<uint32_t, uint32_t>, Entries> scopes_;  ///< by thing and scope
  std::map<uint32_t, Known> things_with_entries_;
};

/// What the outer parts of cut paths, which are not known, may be.
class CutPaths {
 public:
  explicit CutPaths(const Profile& profile) : profile_(profile), tree_(profile.paths.context) {
    cut_of_.assign(tree_.size(), PathTreeNode::kNoParent);
    hides_user_.resize(tree_.size());
    for (uint32_t i = 0; i < tree_.size(); ++i) {
      const PathTreeNode& node = tree_[i];
      if (node.kind == PathNodeKind::kCut)
        cut_of_[i] = i;
      else if (node.parent != PathTreeNode::kNoParent)
        cut_of_[i] = cut_of_[node.parent];
      // Threads of the kernel have no user code: only of a program of another word size is it missing.
      if (node.kind == PathNodeKind::kCut) hides_user_[i] = end_of(i) != PathEnd::kNotAttempted;
      if (cut_of_[i] != PathTreeNode::kNoParent && is_user(node)) hides_user_[cut_of_[i]] = true;
    }
  }

  /// Whether node `i` is of a path whose unknown part may hide code of the kernel, or of a program.
  [[nodiscard]] bool may_hide(uint32_t i, bool kernel) const {
    const uint32_t cut = cut_of_[i];
    if (cut == PathTreeNode::kNoParent) return false;
    if (!kernel) return hides_user_[cut];
    return end_of(cut) == PathEnd::kNoRoom || end_of(cut) == PathEnd::kInterrupted;
  }
  [[nodiscard]] bool is_of(const PathTreeNode& node, ExecutableKind kind) const {
    return node.kind == PathNodeKind::kCode && profile_.executables[node.executable].kind == kind;
  }

 private:
  [[nodiscard]] PathEnd end_of(uint32_t cut) const { return static_cast<PathEnd>(tree_[cut].position); }
  [[nodiscard]] bool is_user(const PathTreeNode& node) const {
    return node.kind != PathNodeKind::kCut && !is_of(node, ExecutableKind::kKernel) &&
           !is_of(node, ExecutableKind::kStart);
  }

  const Profile& profile_;
  const PathTree& tree_;
  std::vector<uint32_t> cut_of_;  ///< of each node
  std::vector<bool> hides_user_;  ///< of each cut
};

/// Which cut paths can hide the code of a program's own file: those of the program alone, for no other maps
/// it.
class ProgramsOfPaths {
 public:
  explicit ProgramsOfPaths(const Profile& profile)
      : scopes_(profile.paths.scopes),
        scope_of_(scope_of_nodes(profile.paths.context, profile.paths.scopes.size())),
        program_of_(profile.executables.size()) {
    std::map<std::string_view, const std::string*> programs;
    for (const PathScope& scope : scopes_)
      if (is_known(scope)) programs.try_emplace(scope.name, &scope.name);
    for (size_t i = 0; i < program_of_.size(); ++i)
      if (const auto found = programs.find(profile.executables[i].path); found != programs.end())
        program_of_[i] = found->second;
  }

  /// The program whose own file holds the node's code; null: any may have mapped it.
  [[nodiscard]] const std::string* whose(const PathTreeNode& node) const {
    return node.kind == PathNodeKind::kCode ? program_of_[node.executable] : nullptr;
  }
  /// The program whose path node `i` is on; empty: not known.
  [[nodiscard]] const std::string& program_at(uint32_t i) const {
    static const std::string kUnknown;
    return scope_of_[i] != UINT32_MAX && is_known(scopes_[scope_of_[i]]) ? scopes_[scope_of_[i]].name
                                                                         : kUnknown;
  }

 private:
  static bool is_known(const PathScope& scope) {
    return scope.kind != PathScopeKind::kGroup && !scope.name.empty() && scope.name != kOtherScopes;
  }

  const std::vector<PathScope>& scopes_;
  std::vector<uint32_t> scope_of_;              ///< of each node
  std::vector<const std::string*> program_of_;  ///< of each executable
};

/// What the context tree says: a thing counts where it is first on a path.
class ContextTotals {
 public:
  ContextTotals(const Profile& profile, const PathThings& things)
      : tree_(profile.paths.context),
        things_(things),
        cuts_(profile),
        programs_(profile),
        below_(ticks_below(tree_)),
        folded_below_(folded_below(tree_)),
        parts_(count_of_parts(things)),
        on_path_(things.count),
        inside_(things.count) {
    for (uint32_t i = 0; i < tree_.size(); ++i) {
      Part& part = parts_[part_at(things.context_part, i)];
      part.folded += tree_[i].folded;
      // A process's start is not on a stack, and its ticks hide nobody.
      if (cuts_.is_of(tree_[i], ExecutableKind::kStart)) continue;
      const uint64_t ticks = tree_[i].self + tree_[i].folded;
      if (cuts_.may_hide(i, true)) part.cut_in_kernel += ticks;
      if (!cuts_.may_hide(i, false)) continue;
      part.cut += ticks;
      part.cut_of[programs_.program_at(i)] += ticks;
    }
  }

  std::vector<PathTotal> run() {
    walk_paths(
        tree_, [this](uint32_t node) { enter(node); },
        [this](uint32_t node) {
          if (things_.context[node] != PathFunctions::kNone) --on_path_[things_.context[node]];
        });
    std::vector<PathTotal> totals(things_.count);
    for (size_t i = 0; i < totals.size(); ++i) {
      const Part& part = parts_[part_at(things_.part, i)];
      const Inside& inside = inside_[i];
      const uint64_t cut = inside.is_start    ? 0
                           : inside.is_kernel ? part.cut_in_kernel
                                              : part.cut_with(inside.program);
      totals[i] = {inside.ticks, inside.ticks + part.folded - inside.folded, cut - std::min(cut, inside.cut)};
    }
    return totals;
  }

 private:
  struct Part {
    uint64_t folded = 0;
    uint64_t cut = 0, cut_in_kernel = 0;       ///< in paths that may hide a program's code, the kernel's
    std::map<std::string, uint64_t> cut_of{};  ///< `cut` of each program; "": of unknown ones
    [[nodiscard]] uint64_t cut_with(const std::string* program) const {
      if (program == nullptr) return cut;
      uint64_t ticks = 0;
      for (const std::string& name : {std::string(), *program})
        if (const auto found = cut_of.find(name); found != cut_of.end()) ticks += found->second;
      return ticks;
    }
  };
  struct Inside {
    uint64_t ticks = 0, folded = 0, cut = 0;
    bool is_kernel = false, is_start = false;
    const std::string* program = nullptr;  ///< as of ProgramsOfPaths::whose()
  };

  void enter(uint32_t node) {
    const uint32_t thing = things_.context[node];
    if (thing == PathFunctions::kNone || on_path_[thing]++ != 0) return;
    Inside& inside = inside_[thing];
    inside.ticks += below_[node];
    inside.folded += folded_below_[node];
    inside.is_kernel = cuts_.is_of(tree_[node], ExecutableKind::kKernel);
    inside.is_start = cuts_.is_of(tree_[node], ExecutableKind::kStart);
    // A function lies in one file; a line, or an object, may be of several.
    if (things_.functions) inside.program = programs_.whose(tree_[node]);
    if (cuts_.may_hide(node, inside.is_kernel)) inside.cut += below_[node];
  }

  const PathTree& tree_;
  const PathThings& things_;
  CutPaths cuts_;
  ProgramsOfPaths programs_;
  std::vector<uint64_t> below_, folded_below_;
  std::vector<Part> parts_;
  std::vector<uint32_t> on_path_;  ///< how often each thing is on the path at hand
  std::vector<Inside> inside_;
};

/// Numbers functions by their keys.
class FunctionNumbers {
 public:
  explicit FunctionNumbers(std::vector<PathFunction>* functions) : functions_(functions) {}

  uint32_t add(PathFunction function) {
    const auto [entry, fresh] = known_.try_emplace(function.key, static_cast<uint32_t>(functions_->size()));
    if (fresh) functions_->push_back(std::move(function));
    return entry->second;
  }

 private:
  std::vector<PathFunction>* functions_;
  std::map<FunctionKey, uint32_t> known_;
};

/// Renumbers the innermost nodes whose place is another symbol's than the one that ran.
void place_innermost(const Profile& profile, ObjectNames& names, FunctionNumbers* numbers,
                     PathFunctions* result) {
  const InnermostNames& innermost = names.innermost();
  const PathTree& tree = profile.paths.context;
  for (size_t i = 0; i < tree.size(); ++i) {
    const InnermostNames::Name* name = innermost.find(tree[i]);
    if (name == nullptr) continue;
    const uint32_t executable = tree[i].executable;
    PathFunction function;
    function.key = function_key(names, executable, name->range.function, name->range.start);
    function.linkage = name->range.linkage;
    function.address = table_address(names, executable, name->range);
    function.several = name->several;
    result->context[i] = numbers->add(std::move(function));
    if (!name->several) continue;
    for (const auto& [range, ticks] : name->symbols) {
      PathFunction one;
      one.key = function_key(names, executable, range.function, range.start);
      one.linkage = range.linkage;
      one.address = table_address(names, executable, range);
      result->functions[numbers->add(std::move(one))].shared = true;
    }
  }
}

using Call = std::pair<CodePlace, uint32_t>;  // place, function

/// The calls on all paths, those of paths that were folded too, ascending.
std::vector<Call> calls_of(const CallPaths& paths, const PathFunctions& functions) {
  std::vector<Call> calls;
  const auto add = [&](const PathTreeNode& node, uint32_t function) {
    if (function != PathFunctions::kNone) calls.push_back({{node.executable, node.position}, function});
  };
  for (size_t i = 0; i < paths.context.size(); ++i) add(paths.context[i], functions.context[i]);
  for (size_t i = 0; i < paths.plane.size(); ++i)
    if (!is_function_of_scope(paths.plane, paths.plane[i])) add(paths.plane[i], functions.plane[i]);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

/// The places of the call plane's functions, ascending.
std::vector<CodePlace> starts_of(const PathTree& plane) {
  std::vector<CodePlace> starts;
  for (const PathTreeNode& node : plane)
    if (is_function_of_scope(plane, node)) starts.emplace_back(node.executable, node.position);
  std::sort(starts.begin(), starts.end());
  return starts;
}

/// The call plane has one entry for all that an entry of the unwind table covers: where that are several
/// symbols it is none of theirs.
void leave_out_shared(const CallPaths& paths, PathFunctions* result) {
  const std::vector<Call> calls = calls_of(paths, *result);
  const std::vector<CodePlace> starts = starts_of(paths.plane);
  for (size_t i = 0; i < paths.plane.size(); ++i) {
    if (!is_function_of_scope(paths.plane, paths.plane[i])) continue;
    const CodePlace start(paths.plane[i].executable, paths.plane[i].position);
    const auto next = std::upper_bound(starts.begin(), starts.end(), start);
    const CodePlace end = next == starts.end() ? CodePlace(UINT32_MAX, 0) : *next;
    const auto first = std::lower_bound(calls.begin(), calls.end(), Call(start, 0));
    const auto last =
        std::lower_bound(first, calls.end(), Call(std::min(end, CodePlace(start.first + 1, 0)), 0));
    const uint32_t own = result->plane[i];
    if (std::all_of(first, last, [own](const Call& call) { return call.second == own; })) continue;
    for (auto call = first; call != last; ++call) result->functions[call->second].in_shared_entry = true;
    result->functions[own].in_shared_entry = true;
    result->plane[i] = PathFunctions::kNone;
  }
}

}  // namespace

FunctionKey function_key(const ObjectNames& names, uint32_t executable, std::string function,
                         uint64_t start) {
  const bool by_name = names.known_by_name(executable);
  return {names.shown(executable), std::move(function), by_name ? 0 : executable, by_name ? 0 : start};
}

uint64_t table_address(const ObjectNames& names, uint32_t executable, const NamedRange& symbol) {
  return names.known_by_name(executable) ? 0 : symbol.object_address();
}

PathFunctions path_functions(const Profile& profile, ObjectNames& names) {
  PathFunctions result;
  const std::vector<CodePlace> places = places_of(profile.paths);
  std::vector<PathFunction> found = functions_at(places, names);
  FunctionNumbers numbers(&result.functions);
  std::vector<uint32_t> of_place;
  for (PathFunction& function : found) of_place.push_back(numbers.add(std::move(function)));
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
  place_innermost(profile, names, &numbers, &result);
  leave_out_shared(profile.paths, &result);
  return result;
}

std::vector<uint64_t> folded_below(const PathTree& tree) {
  std::vector<uint64_t> ticks(tree.size());
  for (size_t i = tree.size(); i-- > 0;) {
    ticks[i] += tree[i].folded;
    if (tree[i].parent != PathTreeNode::kNoParent) ticks[tree[i].parent] += ticks[i];
  }
  return ticks;
}

bool is_folded(const PathTree& tree) {
  return std::any_of(tree.begin(), tree.end(), [](const PathTreeNode& node) { return node.folded != 0; });
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

TotalShare share_of_total(const PathTotal& total, uint64_t all, double samples) {
  const auto ticks = static_cast<double>(all);
  TotalShare result;
  result.share = std::min(static_cast<double>(total.low) / ticks, 1.0);
  result.most_share = std::min(static_cast<double>(total.high) / ticks, 1.0);
  result.is_range = is_wide_range(result.share, result.most_share, samples);
  result.interval = {wilson_interval(result.share, samples).low,
                     wilson_interval(result.most_share, samples).high};
  return result;
}

PathTotal total_without_node(const Profile& profile, bool of_kernel) {
  const PathTree& tree = profile.paths.context;
  const CutPaths cuts(profile);
  PathTotal total;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    total.high += tree[i].folded;
    if (cuts.is_of(tree[i], ExecutableKind::kStart)) continue;
    if (cuts.may_hide(i, of_kernel)) total.cut += tree[i].self + tree[i].folded;
  }
  total.high = std::min(total.high, ticks_without_entry(profile.paths.plane));
  return total;
}

std::vector<PathTotal> path_totals(const Profile& profile, const PathThings& things) {
  std::vector<PathTotal> totals = ContextTotals(profile, things).run();
  if (!things.plane.empty()) PlaneBounds(profile.paths.plane, things).narrow(&totals);
  return totals;
}

}  // namespace pctally
