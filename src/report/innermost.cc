#include "report/innermost.h"

#include <algorithm>
#include <span>

namespace pctally {
namespace {

constexpr size_t kMostNames = 3;

using Positions = std::span<const WeightedPosition>;

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

InnermostNames::InnermostNames(const Profile& part, ObjectNames& names) {
  const Profile& profile = whole_of(part);
  const std::map<CodePlace, uint64_t> innermost = function_starts(profile.paths);
  for (auto at = innermost.begin(); at != innermost.end();) {
    std::vector<uint64_t> starts;
    const uint32_t executable = at->first.first;
    const auto first = at;
    for (; at != innermost.end() && at->first.first == executable; ++at) starts.push_back(at->first.second);
    if (!names.has(executable)) continue;
    Symbolizer& symbolizer = names.symbolizer(executable);
    const std::vector<NamedRange> own = symbolizer.name(starts);
    auto place = first;
    for (size_t i = 0; i < own.size(); ++i, ++place) {
      const uint64_t next = i + 1 < starts.size() ? starts[i + 1] : UINT64_MAX, ending = place->second;
      const Positions covered = positions_between(profile, {executable, starts[i]}, {executable, next});
      // Where not all of them are there nothing follows.
      if (ending > ticks_of(positions_between(profile, {executable, starts[i]},
                                              {executable, std::min(next, own[i].end)})) &&
          ending <= ticks_of(covered))
        names_[place->first] = name_of(symbolizer, covered, starts[i]);
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
