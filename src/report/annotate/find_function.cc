#include "report/annotate/find_function.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "report/line_totals.h"
#include "report/names/short_name.h"
#include "report/names/shown_names.h"
#include "report/rollup.h"

namespace pctally {
namespace {

using Key = std::tuple<uint32_t, uint64_t, std::string>;  ///< executable, start, function

void name_all(std::vector<HotFunction>* functions) {
  std::vector<FunctionName> names;
  for (const HotFunction& function : *functions) {
    const NamedRange& range = function.range;
    names.push_back({range.function, range.linkage, function.object, range.object_address()});
  }
  std::vector<std::string> shown = short_names(names);
  for (size_t i = 0; i < shown.size(); ++i) (*functions)[i].short_name = std::move(shown[i]);
}

}  // namespace

std::vector<HotFunction> hot_functions(const Profile& profile, ObjectNames& names) {
  std::map<Key, HotFunction> found;
  for_each_batch(profile, [&](const ExecutableTicks& part) {
    std::vector<NamedRange> ranges = names.name_ticks(part.executable, part.positions);
    for (size_t i = 0; i < ranges.size(); ++i) {
      HotFunction& function = found[{part.executable, ranges[i].start, ranges[i].function}];
      function.ticks += part.ticks[i];
      function.positions.push_back(part.positions[i]);
      function.position_ticks.push_back(part.ticks[i]);
      function.executable = part.executable;
      function.range = std::move(ranges[i]);
    }
  });
  std::vector<HotFunction> functions;
  for (auto& [key, function] : found) {
    function.object = names.shown(function.executable);
    functions.push_back(std::move(function));
  }
  name_all(&functions);
  std::stable_sort(functions.begin(), functions.end(),
                   [](const HotFunction& a, const HotFunction& b) { return a.ticks > b.ticks; });
  return functions;
}

std::vector<HotFunction> calling_functions(const Profile& profile, ObjectNames& names) {
  const PathTree& tree = profile.paths.context;
  const std::vector<bool> is_call = calls_of(tree);
  std::map<uint32_t, std::set<uint64_t>> places;
  for (size_t i = 0; i < tree.size(); ++i)
    if (is_call[i]) places[tree[i].executable].insert(tree[i].position);
  std::map<Key, HotFunction> found;
  for (const auto& [executable, set] : places) {
    const std::vector<uint64_t> positions(set.begin(), set.end());
    std::vector<NamedRange> ranges = names.symbolizer(executable).name(positions);
    for (size_t i = 0; i < ranges.size(); ++i) {
      HotFunction& function = found[{executable, ranges[i].start, ranges[i].function}];
      function.executable = executable;
      function.object = names.shown(executable);
      function.positions.push_back(positions[i]);
      function.position_ticks.push_back(0);
      function.range = std::move(ranges[i]);
    }
  }
  std::vector<HotFunction> functions;
  for (auto& [key, function] : found) functions.push_back(std::move(function));
  name_all(&functions);
  return functions;
}

bool parse_place(std::string_view query, SourcePlace* place) {
  size_t colon = query.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || query[colon - 1] == ':') return false;
  std::string_view digits = query.substr(colon + 1);
  if (digits.empty() || digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return false;
  place->file = query.substr(0, colon);
  place->line = static_cast<uint32_t>(std::stoul(std::string(digits)));
  return true;
}

Called called_by(const HotFunction& function, const std::string& query) {
  return called_by(function.range.function, function.range.linkage, function.short_name, query);
}

namespace {

/// Those whose names have that address behind them: "[0x7f0c36747880]", as tables tell them apart.
std::vector<const HotFunction*> functions_at_address(const std::vector<HotFunction>& functions,
                                                     const std::string& query) {
  std::vector<const HotFunction*> found;
  const std::string address = query.starts_with('[') ? query : "[" + query + "]";
  for (const HotFunction& function : functions)
    if (address.starts_with("[0x") && function.short_name.ends_with(" " + address))
      found.push_back(&function);
  return found;
}

}  // namespace

std::vector<const HotFunction*> functions_called(const std::vector<HotFunction>& functions,
                                                 const std::string& query) {
  if (std::vector<const HotFunction*> found = functions_at_address(functions, query); !found.empty())
    return found;
  Called best = Called::kNot;
  for (const HotFunction& function : functions) best = std::min(best, called_by(function, query));
  if (is_part(best) && std::ranges::find(functions, query, &HotFunction::object) != functions.end())
    return {};
  std::vector<const HotFunction*> called;
  for (const HotFunction& function : functions)
    if (best != Called::kNot && called_by(function, query) == best) called.push_back(&function);
  return called;
}

const HotFunction* main_copy(const std::vector<const HotFunction*>& functions) {
  constexpr uint64_t kManyTimes = 10;
  uint64_t others = 0;
  for (const HotFunction* function : functions) {
    if (function->range.function != functions[0]->range.function || function->object != functions[0]->object)
      return nullptr;
    if (function != functions[0]) others += function->ticks;
  }
  const bool most =
      !functions.empty() && functions[0]->ticks != 0 && functions[0]->ticks / kManyTimes >= others;
  return most ? functions[0] : nullptr;
}

namespace {

using Frames = std::vector<Frame>;

/// The functions with places that have such frames, most ticks there first.
std::vector<const HotFunction*> functions_with(const std::vector<HotFunction>& functions, ObjectNames& names,
                                               const std::function<bool(const Frames&)>& wanted) {
  std::vector<std::pair<uint64_t, const HotFunction*>> found;
  for (const HotFunction& function : functions) {
    uint64_t ticks = 0;
    bool has_such = false;
    const std::vector<Frames> frames = names.symbolizer(function.executable).frames(function.positions);
    for (size_t i = 0; i < frames.size() && i < function.positions.size(); ++i) {
      if (!wanted(frames[i])) continue;
      has_such = true;
      ticks += function.position_ticks[i];
    }
    if (has_such) found.emplace_back(ticks, &function);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<const HotFunction*> result;
  for (const auto& [ticks, function] : found) result.push_back(function);
  return result;
}

}  // namespace

std::vector<const HotFunction*> functions_aliased(const std::vector<HotFunction>& functions,
                                                  ObjectNames& names, const std::string& query) {
  std::map<uint32_t, std::map<uint64_t, const HotFunction*>> by_start;  // of each executable
  for (const HotFunction& function : functions)
    by_start[function.executable].emplace(function.range.start, &function);
  std::vector<const HotFunction*> found;
  const auto is_called_so = [&](const SymbolName& alias) {
    return called_by(alias.function, alias.linkage, "", query) <= Called::kBare;
  };
  for (const auto& [executable, starting] : by_start) {
    std::vector<uint64_t> starts;
    for (const auto& [start, function] : starting) starts.push_back(start);
    const std::vector<std::vector<SymbolName>> aliases = names.symbolizer(executable).aliases(starts);
    for (size_t i = 0; i < starts.size(); ++i)
      if (std::ranges::any_of(aliases[i], is_called_so)) found.push_back(starting.at(starts[i]));
  }
  std::ranges::stable_sort(found, std::greater(), &HotFunction::ticks);
  return found;
}

std::vector<const HotFunction*> functions_at(const std::vector<HotFunction>& functions, ObjectNames& names,
                                             const SourcePlace& place) {
  const auto is_at = [&](const Frame& frame) {
    return frame.line == place.line && is_path(frame.file, place.file);
  };
  return functions_with(functions, names,
                        [&](const Frames& frames) { return std::ranges::any_of(frames, is_at); });
}

std::vector<const HotFunction*> functions_around(const std::vector<HotFunction>& functions,
                                                 ObjectNames& names, const std::string& query) {
  std::map<std::pair<std::string, std::string>, bool> known;  // one function has thousands of frames
  const auto is_called_so = [&](const Frame& frame) {
    const auto [entry, fresh] = known.try_emplace({frame.function, frame.linkage});
    if (fresh)
      entry->second = called_by(frame.function, frame.linkage,
                                short_function_name(frame.function, frame.linkage), query) <= Called::kMember;
    return entry->second;
  };
  // The last frame is the function itself, which was inlined into none.
  return functions_with(functions, names, [&](const Frames& frames) {
    return !frames.empty() && std::any_of(frames.begin(), frames.end() - 1, is_called_so);
  });
}

}  // namespace pctally
