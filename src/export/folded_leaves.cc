#include "export/folded_leaves.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "report/names/innermost.h"
#include "report/paths/part_shares.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

constexpr uint32_t kNoScope = UINT32_MAX;

/// From then on a part gets few functions: each leaf is a sample of its own, and ticks may be nanoseconds.
constexpr size_t kMostLeaves = 200'000;

/// Whether paths that end there have a function that ran, which is not known. The others are of code in no
/// known file, whose ticks have no place either.
bool lacks_leaf(const PathTreeNode& node) {
  return node.kind == PathNodeKind::kCut && node.self != 0 &&
         node.position != static_cast<uint64_t>(PathEnd::kUnknownMapping) &&
         node.position != static_cast<uint64_t>(PathEnd::kNoUnwindTable);
}

/// A function whose ticks are not all in paths that end in it.
struct LackingFunction {
  CodePlace start;
  uint64_t missing = 0;
  uint32_t scope = kNoScope;  ///< the only one that has it
};

/// A node below which leaves are missing.
struct LackingPart {
  uint32_t node = 0;
  uint64_t ticks = 0;
  uint32_t scope = kNoScope;
};

/// Where functions start, the ticks of the paths that end there, and in which scopes they ran.
class Starts {
 public:
  explicit Starts(const CallPaths& paths) : ends_(function_starts(paths)) {
    const std::vector<uint32_t> scopes = scope_of_nodes(paths.plane, paths.scopes.size());
    for (uint32_t i = 0; i < paths.plane.size(); ++i) {
      const PathTreeNode& node = paths.plane[i];
      if (!is_function_of_scope(paths.plane, node)) continue;
      const auto [entry, fresh] = scopes_.try_emplace({node.executable, node.position}, scopes[i]);
      if (!fresh && entry->second != scopes[i]) entry->second = kNoScope;
    }
  }
  [[nodiscard]] const std::map<CodePlace, uint64_t>& ends() const { return ends_; }
  [[nodiscard]] uint32_t scope_of(CodePlace start) const {
    const auto found = scopes_.find(start);
    return found == scopes_.end() ? kNoScope : found->second;
  }

 private:
  std::map<CodePlace, uint64_t> ends_;
  std::map<CodePlace, uint32_t> scopes_;
};

/// Functions of one executable, ascending, with more ticks than the paths that end in them.
class MissingTicks {
 public:
  MissingTicks(const Profile& profile, const Starts& starts, uint32_t executable, Symbolizer& symbolizer)
      : profile_(profile), starts_(starts) {
    const Positions all = positions_between(profile, {executable, 0}, {executable + 1, 0});
    const std::vector<FunctionStart> functions = functions_of(profile, starts.ends(), executable);
    name(all, functions, symbolizer);
    add_by_symbol(functions.empty() ? all : Positions(all.begin(), functions.front().covered.begin()));
    for (const FunctionStart& function : functions) add_covered(function);
  }
  [[nodiscard]] const std::vector<LackingFunction>& functions() const { return functions_; }

 private:
  /// Names all positions at once: each call of Symbolizer::name() reads the whole table of symbols.
  void name(Positions ticks, std::span<const FunctionStart> functions, Symbolizer& symbolizer) {
    for (const WeightedPosition& at : ticks) positions_.push_back(at.position);
    for (const FunctionStart& function : functions) positions_.push_back(function.place.second);
    std::ranges::sort(positions_);
    positions_.erase(std::ranges::unique(positions_).begin(), positions_.end());
    symbols_ = symbolizer.name(positions_);
  }

  /// REQUIRES: `position` has been named.
  [[nodiscard]] const NamedRange& symbol_at(uint64_t position) const {
    return symbols_[static_cast<size_t>(std::ranges::lower_bound(positions_, position) - positions_.begin())];
  }

  /// Code behind the symbol is of functions that no path has, unless paths that end there have more ticks
  /// than the symbol: then they are in the other symbols of an entry of the unwind table.
  void add_covered(const FunctionStart& function) {
    Positions own = own_positions(profile_, function, symbol_at(function.place.second).end);
    if (function.ends > ticks_of(own)) own = function.covered;
    add_function(function.place, function.ends, ticks_of(own));
    add_by_symbol(function.covered.subspan(own.size()));
  }

  void add_by_symbol(Positions ticks) {
    for (size_t i = 0, next = 0; i < ticks.size(); i = next) {
      const uint64_t position = ticks[i].position;
      const NamedRange& symbol = symbol_at(position);
      for (next = i + 1; next < ticks.size() && ticks[next].position < symbol.end;) ++next;
      const bool has_start = symbol.start <= position;
      add_function({ticks[i].executable, has_start ? symbol.start : position}, 0,
                   ticks_of(ticks.subspan(i, next - i)));
    }
  }

  void add_function(CodePlace start, uint64_t ends, uint64_t ticks) {
    if (ticks > ends) functions_.push_back({start, ticks - ends, starts_.scope_of(start)});
  }

  const Profile& profile_;
  const Starts& starts_;
  std::vector<uint64_t> positions_;
  std::vector<NamedRange> symbols_;  ///< of each
  std::vector<LackingFunction> functions_;
};

std::vector<LackingFunction> missing_functions(const Profile& profile, ObjectNames& names) {
  std::vector<LackingFunction> functions;
  if (profile.paths.one_frame) return functions;
  const Starts starts(profile.paths);
  std::optional<uint32_t> last;
  for (const WeightedPosition& at : profile.positions) {
    if (last == at.executable) continue;
    last = at.executable;
    const MissingTicks missing(profile, starts, at.executable, names.symbolizer(at.executable));
    functions.insert(functions.end(), missing.functions().begin(), missing.functions().end());
  }
  return functions;
}

class Leaves {
 public:
  explicit Leaves(Profile* profile) : profile_(*profile) {}

  void add(std::vector<LackingFunction> functions) {
    std::vector<LackingPart> parts = missing_parts();
    std::map<uint32_t, std::pair<std::vector<LackingPart*>, std::vector<LackingFunction*>>> of_one_scope;
    for (LackingPart& part : parts) of_one_scope[part.scope].first.push_back(&part);
    for (LackingFunction& function : functions) of_one_scope[function.scope].second.push_back(&function);
    for (auto& [scope, own] : of_one_scope)
      if (scope != kNoScope) share(own.first, own.second);
    std::vector<LackingPart*> all_parts;
    std::vector<LackingFunction*> all_functions;
    for (LackingPart& part : parts) all_parts.push_back(&part);
    for (LackingFunction& function : functions) all_functions.push_back(&function);
    share(all_parts, all_functions);
  }

 private:
  PathTree& tree() { return profile_.paths.context; }

  std::vector<LackingPart> missing_parts() {
    const std::vector<uint32_t> scopes = scope_of_nodes(tree(), profile_.paths.scopes.size());
    std::vector<LackingPart> parts;
    for (uint32_t i = 0; i < scopes.size(); ++i) {
      const PathTreeNode node = tree()[i];
      if (node.folded != 0) parts.push_back({add_cut(i, kFoldedPart, node.folded), node.folded, scopes[i]});
      if (node.folded != 0) tree()[i].folded = 0;
      if (lacks_leaf(node)) parts.push_back({i, node.self, scopes[i]});
    }
    if (uint64_t& ticks = profile_.paths.no_room; ticks != 0) {
      parts.push_back({add_cut(PathTreeNode::kNoParent, kPathWithoutRoom, ticks), ticks});
      ticks = 0;
    }
    return parts;
  }

  uint32_t add_cut(uint32_t parent, uint64_t position, uint64_t ticks) {
    tree().push_back({.parent = parent, .kind = PathNodeKind::kCut, .position = position, .self = ticks});
    return static_cast<uint32_t>(tree().size() - 1);
  }

  /// In whole ticks, and so that those of each part add up, and those of each function.
  void share(const std::vector<LackingPart*>& parts, const std::vector<LackingFunction*>& functions) {
    std::vector<uint64_t> wanted, missing;
    uint64_t all = 0;
    for (const LackingPart* part : parts) wanted.push_back(part->ticks);
    for (const LackingFunction* function : functions)
      missing.push_back(function->missing), all += function->missing;
    std::vector<PartShares::Share> quotas = PartShares(std::move(wanted)).take(all);
    std::ranges::stable_sort(quotas, std::greater(), &PartShares::Share::ticks);
    PartShares shares(std::move(missing));
    for (const PartShares::Share& quota : quotas)
      for (const PartShares::Share& share :
           leaves_ < kMostLeaves ? shares.take(quota.ticks) : shares.take_of_few(quota.ticks))
        add_leaf(parts[quota.part], functions[share.part], share.ticks);
  }

  void add_leaf(LackingPart* part, LackingFunction* function, uint64_t ticks) {
    const auto [executable, position] = function->start;
    tree().push_back({.parent = part->node,
                      .kind = PathNodeKind::kCode,
                      .is_end = true,
                      .executable = executable,
                      .position = position,
                      .self = ticks});
    tree()[part->node].self -= ticks;
    part->ticks -= ticks;
    function->missing -= ticks;
    ++leaves_;
  }

  Profile& profile_;
  size_t leaves_ = 0;
};

}  // namespace

bool lacks_leaves(const CallPaths& paths) {
  return paths.no_room != 0 || std::ranges::any_of(paths.context, lacks_leaf) || is_folded(paths.context);
}

void add_leaves(Profile* profile, ObjectNames& names) {
  Leaves(profile).add(missing_functions(*profile, names));
}

}  // namespace pctally
