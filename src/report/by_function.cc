#include <algorithm>
#include <map>

#include "report/account/path_account.h"
#include "report/path_totals.h"
#include "report/rollup.h"

namespace pctally {
namespace {

struct Function {
  uint64_t ticks = 0;
  ExecutableKind kind = ExecutableKind::kFile;
  PathTotal total;
  uint64_t address = 0;
  std::string linkage;
};

/// Adds one executable's ticks range by range: a function's positions are neighbours.
void add_executable(const ExecutableTicks& part, ExecutableKind kind, ObjectNames& names,
                    std::map<FunctionKey, Function>* functions) {
  std::vector<NamedRange> ranges = names.name_ticks(part.executable, part.positions);
  for (size_t i = 0; i < ranges.size();) {
    uint64_t ticks = 0;
    size_t first = i;
    do {
      ticks += part.ticks[i++];
    } while (i < ranges.size() && ranges[i].start == ranges[first].start &&
             ranges[i].function == ranges[first].function);
    FunctionKey key =
        function_key(names, part.executable, std::move(ranges[first].function), ranges[first].start);
    Function& function = (*functions)[std::move(key)];
    function.ticks += ticks;
    function.kind = kind;
    function.linkage = std::move(ranges[first].linkage);
    function.address = table_address(names, part.executable, ranges[first]);
  }
}

/// The totals of functions that no tree has; add_totals() replaces those of the others.
void add_what_folded_paths_may_hold(const Profile& profile, std::map<FunctionKey, Function>* functions) {
  const PathTotal total = total_without_node(profile, false), of_kernel = total_without_node(profile, true);
  for (auto& [key, function] : *functions) {
    if (function.kind == ExecutableKind::kStart) continue;  // on no stack
    function.total = function.kind == ExecutableKind::kKernel ? of_kernel : total;
  }
}

/// The plane's entries, or the context tree's nodes alone.
std::vector<PathTotal> totals_of(const Profile& profile, const PathFunctions& paths, bool with_plane) {
  PathThings things;
  things.count = paths.functions.size();
  things.context = paths.context;
  if (with_plane) things.plane = paths.plane;
  things.functions = true;
  return path_totals(profile, things);
}

/// Own ticks of a function that no path has come to those of the paths through it.
void add_ticks_without_path(const Profile& profile, const PathFunctions& paths,
                            std::map<FunctionKey, Function>* functions) {
  const TicksWithoutPath without(profile.paths);
  if (!without.any()) return;
  std::vector<uint64_t> kept(paths.functions.size());
  for (size_t i = 0; i < paths.context.size(); ++i)
    if (paths.context[i] != PathFunctions::kNone) kept[paths.context[i]] += profile.paths.context[i].self;
  const std::vector<PathTotal> totals = totals_of(profile, paths, false);
  for (size_t i = 0; i < totals.size(); ++i) {
    const auto found = functions->find(paths.functions[i].key);
    if (paths.functions[i].shared || found == functions->end()) continue;
    const uint64_t more = without.of(found->second.ticks, kept[i]);
    if (more == 0) continue;
    PathTotal& total = found->second.total;
    total.low = std::max(total.low, totals[i].low + more);
    total.high = std::max(total.high, totals[i].high + more);
    total.cut -= std::min(total.cut, more);
  }
}

/// A function that only calls others has a total, too.
void add_totals(const Profile& profile, const PathFunctions& paths,
                std::map<FunctionKey, Function>* functions) {
  const std::vector<PathTotal> totals = totals_of(profile, paths, true);
  for (size_t i = 0; i < totals.size(); ++i) {
    // In the whole profile each of them has a row of its own.
    if (paths.functions[i].several && !functions->contains(paths.functions[i].key)) continue;
    if (totals[i].high == 0 && !functions->contains(paths.functions[i].key)) continue;  // its neighbour ran
    Function& function = (*functions)[paths.functions[i].key];
    function.total = totals[i];
    if (paths.functions[i].shared) function.total.high += function.ticks;
    function.linkage = paths.functions[i].linkage;
    function.address = paths.functions[i].address;
  }
  add_ticks_without_path(profile, paths, functions);
}

}  // namespace

std::vector<Row> rows_by_function(const Profile& profile, ObjectNames& names, const PathFunctions* paths) {
  std::map<FunctionKey, Function> functions;
  for_each_batch(profile, [&](const ExecutableTicks& part) {
    add_executable(part, profile.executables[part.executable].kind, names, &functions);
  });
  if (paths != nullptr) {
    add_what_folded_paths_may_hold(profile, &functions);
    add_totals(profile, *paths, &functions);
  }
  std::vector<Row> rows;
  for (auto& [key, function] : functions) {
    Row row;
    row.object = key.object;
    row.function = key.function;
    row.total = function.total;
    if (paths != nullptr) include_own(function.ticks, &row.total);
    row.linkage = std::move(function.linkage);
    row.address = function.address;
    row.of_kernel = function.kind == ExecutableKind::kKernel;
    row.ticks = function.ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pctally
