#include "report/names/innermost.h"

#include <algorithm>
#include <ranges>

namespace pctally {
namespace {

constexpr size_t kMostNames = 3;

/// The name made of the symbols that have ticks.
InnermostNames::Name name_of(Symbolizer& symbolizer, Positions ticks, uint64_t start) {
  std::vector<uint64_t> positions;
  InnermostNames::Name name;
  for (const WeightedPosition& at : ticks) positions.push_back(at.position);
  std::vector<NamedRange> ranges = symbolizer.name(positions);
  for (size_t i = 0; i < ranges.size(); ++i) {
    auto symbol = std::ranges::find_if(name.symbols, [&](const InnermostNames::Symbol& known) {
      return known.range.function == ranges[i].function && known.range.start == ranges[i].start;
    });
    if (symbol == name.symbols.end()) symbol = name.symbols.insert(symbol, {ranges[i]});
    symbol->ticks += ticks[i].ticks;
  }
  name.several = name.symbols.size() > 1;
  name.range = name.several ? NamedRange{{}, start, ranges.back().end} : name.symbols.front().range;
  if (!name.several) return name;
  for (size_t i = 0; i < name.symbols.size(); ++i) {
    if (i != 0) name.range.function += ", ";
    name.range.function += i < kMostNames ? name.symbols[i].range.function : "...";
    if (i == kMostNames) break;
  }
  return name;
}

}  // namespace

std::map<CodePlace, uint64_t> innermost_functions(const PathTree& tree) {
  std::map<CodePlace, uint64_t> functions;
  for (const PathTreeNode& node : tree)
    if (is_innermost(node)) functions[{node.executable, node.position}] += node.self;
  return functions;
}

std::map<CodePlace, uint64_t> function_starts(const CallPaths& paths) {
  std::map<CodePlace, uint64_t> starts = innermost_functions(paths.context);
  for (const PathTreeNode& node : paths.plane)
    if (is_function_of_scope(paths.plane, node)) starts.try_emplace({node.executable, node.position}, 0);
  return starts;
}

Positions positions_between(const Profile& profile, CodePlace from, CodePlace to) {
  const auto find = [&](CodePlace place) {
    return std::ranges::partition_point(profile.positions, [&](const WeightedPosition& at) {
      return CodePlace(at.executable, at.position) < place;
    });
  };
  return from < to ? Positions(find(from), find(to)) : Positions();
}

uint64_t ticks_of(Positions positions) {
  uint64_t ticks = 0;
  for (const WeightedPosition& at : positions) ticks += at.ticks;
  return ticks;
}

std::vector<FunctionStart> functions_of(const Profile& profile, const std::map<CodePlace, uint64_t>& starts,
                                        uint32_t executable) {
  const CodePlace behind_all = {executable + 1, 0};
  const std::ranges::subrange own(starts.lower_bound({executable, 0}), starts.lower_bound(behind_all));
  std::vector<FunctionStart> functions;
  auto next = own.begin();
  for (const auto& [place, ends] : own) {
    const CodePlace end = ++next == own.end() ? behind_all : next->first;
    functions.push_back({place, end, ends, positions_between(profile, place, end)});
  }
  return functions;
}

Positions own_positions(const Profile& profile, const FunctionStart& function, uint64_t end) {
  return positions_between(profile, function.place, std::min({function.place.first, end}, function.next));
}

InnermostNames::InnermostNames(const Profile& part, ObjectNames& names) {
  const Profile& profile = whole_of(part);
  const std::map<CodePlace, uint64_t> starts = function_starts(profile.paths);
  for (auto at = starts.begin(); at != starts.end(); at = starts.lower_bound({at->first.first + 1, 0})) {
    const uint32_t executable = at->first.first;
    if (!names.has(executable)) continue;
    Symbolizer& symbolizer = names.symbolizer(executable);
    const std::vector<FunctionStart> functions = functions_of(profile, starts, executable);
    std::vector<uint64_t> positions;
    for (const FunctionStart& function : functions) positions.push_back(function.place.second);
    const std::vector<NamedRange> symbols = symbolizer.name(positions);
    for (size_t i = 0; i < functions.size(); ++i) {
      const FunctionStart& function = functions[i];
      // Where not all of them are there nothing follows.
      if (function.ends > ticks_of(own_positions(profile, function, symbols[i].end)) &&
          function.ends <= ticks_of(function.covered))
        names_[function.place] = name_of(symbolizer, function.covered, function.place.second);
    }
  }
}

const InnermostNames::Name* InnermostNames::find(const PathTreeNode& node) const {
  return is_innermost(node) ? find(CodePlace(node.executable, node.position)) : nullptr;
}

const InnermostNames::Name* InnermostNames::find(CodePlace start) const {
  const auto found = names_.find(start);
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace pctally
