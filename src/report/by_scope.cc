#include <algorithm>
#include <map>
#include <tuple>

#include "base/tick_excess.h"
#include "report/path_choice.h"
#include "report/path_totals.h"
#include "report/rollup.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

/// What a row is of. The paths of programs, not their names, tell them apart; and their builds.
struct ScopeKey {
  std::string program_path, program;
  std::vector<uint8_t> build_id;
  std::string thread, group;
  FunctionKey function;
  auto operator<=>(const ScopeKey&) const = default;
};

struct Sum {
  uint64_t ticks = 0;
  PathTotal total;
  std::string linkage;
  uint64_t address = 0;
};

class ScopeRows {
 public:
  ScopeRows(const Profile& profile, Grouping by, ObjectNames& names, bool totals)
      : profile_(profile),
        paths_(profile.paths),
        by_(by),
        totals_(totals && is_by_scope_and_function(by)),
        by_thread_(by == Grouping::kThread || by == Grouping::kThreadFunction),
        names_(scope_names(profile.paths)),
        kind_(scope_kind(profile.paths)),
        scopes_(scope_of_nodes(profile.paths.context, profile.paths.scopes.size())) {
    if (is_by_scope_and_function(by)) functions_ = path_functions(profile, names);
  }

  std::vector<Row> run() {
    for (uint32_t i = 0; i < paths_.context.size(); ++i) {
      const PathTreeNode& node = paths_.context[i];
      if (node.self != 0) add(i, node.self, false);
      if (node.folded != 0) add(i, node.folded, true);
    }
    if (totals_) add_totals();
    std::vector<Row> rows;
    for (auto& [key, sum] : sums_) rows.push_back(row_of(key, sum));
    return rows;
  }

 private:
  void add(uint32_t node, uint64_t ticks, bool folded) {
    // Whether such ticks are of the paths that were asked for is not known: they are no program's.
    const bool apart = !is_by_scope_and_function(by_) && is_not_kept(paths_.context[node]);
    ScopeKey key = scope_key(apart ? UINT32_MAX : scopes_[node], paths_.context[node]);
    Sum facts;
    if (is_by_scope_and_function(by_)) key.function = function_of(node, folded, &facts);
    Sum& sum = sums_.try_emplace(std::move(key), std::move(facts)).first->second;
    sum.ticks += ticks;
  }

  /// Functions of programs (threads, groups). Only paths of the same program can hide them.
  void add_totals() {
    PathThings things;
    things.functions = true;
    things.context = numbers_of(paths_.context, functions_.context, &things.context_part, &things);
    things.plane = numbers_of(paths_.plane, functions_.plane, &things.plane_part, &things);
    things.count = numbered_.size();
    const std::vector<PathTotal> totals = path_totals(profile_, things);
    std::vector<uint64_t> several(parts_.size());  // ticks of one of several symbols
    for (size_t i = 0; i < paths_.context.size(); ++i)
      if (const uint32_t function = functions_.context[i];
          function != PathFunctions::kNone && functions_.functions[function].several)
        several[things.context_part[i]] += paths_.context[i].self;
    for (const auto& [pair, number] : numbered_) {
      const auto& [part, function] = pair;
      ScopeKey key = *parts_[part];
      key.function = functions_.functions[function].key;
      Sum& sum = sums_[std::move(key)];
      sum.linkage = functions_.functions[function].linkage;
      sum.address = functions_.functions[function].address;
      sum.total = totals[number];
      if (functions_.functions[function].shared) sum.total.high += several[part];
      include_own(sum.ticks, &sum.total);
    }
  }

  /// The thing that each node of a tree is, and into `parts` the number of its scope's key.
  std::vector<uint32_t> numbers_of(const PathTree& tree, const std::vector<uint32_t>& functions,
                                   std::vector<uint32_t>* parts, PathThings* things) {
    std::vector<uint32_t> numbers(tree.size(), PathFunctions::kNone);
    for (uint32_t i = 0; i < tree.size(); ++i) {
      const uint32_t parent = tree[i].parent;
      parts->push_back(parent == PathTreeNode::kNoParent ? part_of_root(tree[i]) : (*parts)[parent]);
      if (functions[i] == PathFunctions::kNone) continue;
      const auto [entry, fresh] =
          numbered_.try_emplace({parts->back(), functions[i]}, static_cast<uint32_t>(numbered_.size()));
      if (fresh) things->part.push_back(parts->back());
      numbers[i] = entry->second;
    }
    return numbers;
  }

  uint32_t part_of_root(const PathTreeNode& root) {
    const bool known = root.kind == PathNodeKind::kScope && root.position < paths_.scopes.size();
    const auto scope = known ? static_cast<uint32_t>(root.position) : UINT32_MAX;
    const auto [entry, fresh] =
        part_numbers_.try_emplace(scope_key(scope, root), static_cast<uint32_t>(parts_.size()));
    if (fresh) parts_.push_back(&entry->first);
    return entry->second;
  }

  [[nodiscard]] ScopeKey scope_key(uint32_t scope, const PathTreeNode& node) const {
    ScopeKey key;
    ScopeName name = scope == UINT32_MAX ? unknown_name(node) : names_[scope];
    key.program = std::move(name.program);
    key.group = std::move(name.group);
    if (scope != UINT32_MAX && kind_ != PathScopeKind::kGroup) {
      key.program_path = paths_.scopes[scope].name;
      key.build_id = paths_.scopes[scope].build_id;
    }
    if (by_thread_) key.thread = std::move(name.thread);
    return key;
  }

  /// Ticks that were left out have a place of their own, which has their name.
  [[nodiscard]] ScopeName unknown_name(const PathTreeNode& node) const {
    ScopeName name = unknown_scope(kind_);
    std::string& first = kind_ == PathScopeKind::kGroup ? name.group
                         : by_thread_                   ? name.thread
                                                        : name.program;
    const bool left_out =
        (node.parent == PathTreeNode::kNoParent && node.kind == PathNodeKind::kCode) || is_not_kept(node);
    const bool interrupted =
        node.kind == PathNodeKind::kCut && node.position == static_cast<uint64_t>(PathEnd::kInterrupted);
    if (left_out) name = {};
    if (left_out) first = profile_.executables[node.executable].path;
    if (interrupted) first = kNotRead;
    return name;
  }

  [[nodiscard]] bool is_not_kept(const PathTreeNode& node) const {
    return node.kind == PathNodeKind::kCode && profile_.executables[node.executable].path == kInnerNotKept;
  }

  [[nodiscard]] FunctionKey function_of(uint32_t node, bool folded, Sum* facts) const {
    const uint32_t function = functions_.context[node];
    if (folded) return {"", kInnerNotKept, 0, 0};
    if (function == PathFunctions::kNone) return {"", kNoFunction, 0, 0};
    facts->linkage = functions_.functions[function].linkage;
    facts->address = functions_.functions[function].address;
    return functions_.functions[function].key;
  }

  static Row row_of(const ScopeKey& key, const Sum& sum) {
    Row row;
    row.program = key.program;
    row.program_path = key.program_path;
    row.program_build = key.build_id;
    row.thread = key.thread;
    row.group = key.group;
    row.function = key.function.function;
    row.object = key.function.object;
    row.linkage = sum.linkage;
    row.address = sum.address;
    row.ticks = sum.ticks;
    row.total = sum.total;
    return row;
  }

  const Profile& profile_;
  const CallPaths& paths_;
  Grouping by_;
  bool totals_;
  bool by_thread_;
  std::vector<ScopeName> names_;
  PathScopeKind kind_;
  std::vector<uint32_t> scopes_;
  PathFunctions functions_;
  std::map<ScopeKey, Sum> sums_;
  std::map<ScopeKey, uint32_t> part_numbers_;
  std::vector<const ScopeKey*> parts_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> numbered_;  ///< part, function: a thing
};

}  // namespace

std::vector<Row> rows_by_scope(const Profile& profile, Grouping by, ObjectNames& names, bool totals) {
  std::vector<Row> rows = ScopeRows(profile, by, names, totals).run();
  const TickLedger& ledger = profile.ledger;
  // A tick killed half-way, or a forged file, may have more of them than there are ticks.
  take_tick_excess(&rows, ledger.counted + ledger.outside + ledger.full);
  if (totals && !is_by_scope_and_function(by))  // all paths of a program begin in it
    for (Row& row : rows) row.total = {row.ticks, row.ticks, 0};
  std::erase_if(rows, [](const Row& row) { return row.ticks == 0 && row.total.high == 0; });
  return rows;
}

}  // namespace pctally
