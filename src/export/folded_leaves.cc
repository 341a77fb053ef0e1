#include "export/folded_leaves.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "report/innermost.h"
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

/// From where to where the symbols go that positions of one executable are in.
class SymbolRanges {
 public:
  struct Range {
    uint64_t start = 0, end = 0;
  };

  /// Of all positions at once: each call of name() reads the whole table of symbols.
  SymbolRanges(std::vector<uint64_t> positions, Symbolizer& symbolizer) : positions_(std::move(positions)) {
    std::ranges::sort(positions_);
    positions_.erase(std::ranges::unique(positions_).begin(), positions_.end());
    for (const NamedRange& range : symbolizer.name(positions_)) ranges_.push_back({range.start, range.end});
  }

  /// REQUIRES: `position` is one of them.
  [[nodiscard]] Range at(uint64_t position) const {
    return ranges_[static_cast<size_t>(std::ranges::lower_bound(positions_, position) - positions_.begin())];
  }

 private:
  std::vector<uint64_t> positions_;
  std::vector<Range> ranges_;  ///< of each
};

class MissingTicks {
 public:
  MissingTicks(const Profile& profile, std::vector<LackingFunction>* functions)
      : profile_(profile), starts_(profile.paths), functions_(*functions) {}

  /// The functions of one executable, in order.
  void add(uint32_t executable, Symbolizer& symbolizer) {
    const CodePlace behind_all = {executable + 1, 0};
    auto start = starts_.ends().lower_bound({executable, 0});
    const auto end = starts_.ends().lower_bound(behind_all);
    const auto next = [&] { return start != end ? start->first : behind_all; };
    std::vector<uint64_t> positions;
    for (auto own = start; own != end; ++own) positions.push_back(own->first.second);
    for (const WeightedPosition& at : positions_between(profile_, {executable, 0}, behind_all))
      positions.push_back(at.position);
    const SymbolRanges symbols(std::move(positions), symbolizer);
    add_by_symbol(positions_between(profile_, {executable, 0}, next()), symbols);
    while (start != end) {
      const auto [place, ends] = *start++;
      add_covered(place, ends, positions_between(profile_, place, next()), symbols);
    }
  }

 private:
  /// Code behind the symbol is of functions that no path has, unless paths that end there have more ticks
  /// than the symbol: then they are in the other symbols of an entry of the unwind table.
  void add_covered(CodePlace start, uint64_t ends, std::span<const WeightedPosition> covered,
                   const SymbolRanges& symbols) {
    const uint64_t own_end = symbols.at(start.second).end;
    const auto behind = std::ranges::lower_bound(covered, own_end, {}, &WeightedPosition::position);
    auto own = covered.first(static_cast<size_t>(behind - covered.begin()));
    if (ends > ticks_of(own)) own = covered;
    add_function(start, ends, ticks_of(own));
    add_by_symbol(covered.subspan(own.size()), symbols);
  }

  void add_by_symbol(std::span<const WeightedPosition> ticks, const SymbolRanges& symbols) {
    for (size_t i = 0, next = 0; i < ticks.size(); i = next) {
      const uint64_t position = ticks[i].position;
      const SymbolRanges::Range symbol = symbols.at(position);
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
  Starts starts_;
  std::vector<LackingFunction>& functions_;
};

std::vector<LackingFunction> missing_functions(const Profile& profile, ObjectNames& names) {
  std::vector<LackingFunction> functions;
  if (profile.paths.one_frame) return functions;
  MissingTicks missing(profile, &functions);
  std::optional<uint32_t> last;
  for (const WeightedPosition& at : profile.positions)
    if (last != at.executable)
      missing.add(at.executable, names.symbolizer(at.executable)), last = at.executable;
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
