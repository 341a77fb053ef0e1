#include <algorithm>
#include <map>

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
  const bool is_private = kind == ExecutableKind::kPrivate;
  std::vector<NamedRange> ranges = names.name_ticks(part.executable, part.positions);
  for (size_t i = 0; i < ranges.size();) {
    uint64_t ticks = 0;
    size_t first = i;
    do {
      ticks += part.ticks[i++];
    } while (i < ranges.size() && ranges[i].start == ranges[first].start &&
             ranges[i].function == ranges[first].function);
    FunctionKey key{names.shown(part.executable), std::move(ranges[first].function),
                    is_private ? 0 : part.executable, is_private ? 0 : ranges[first].start};
    Function& function = (*functions)[std::move(key)];
    function.ticks += ticks;
    function.kind = kind;
    function.linkage = std::move(ranges[first].linkage);
    if (!is_private) function.address = ranges[first].object_address();
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

/// A function that only calls others has a total, too.
void add_totals(const Profile& profile, const PathFunctions& paths,
                std::map<FunctionKey, Function>* functions) {
  const std::vector<PathTotal> totals = path_totals(profile, {.count = paths.functions.size(),
                                                              .context = paths.context,
                                                              .plane = paths.plane,
                                                              .functions = true,
                                                              .part = {},
                                                              .context_part = {},
                                                              .plane_part = {}});
  for (size_t i = 0; i < totals.size(); ++i) {
    // Of the whole each of them has a row of its own.
    if (paths.functions[i].several && !functions->contains(paths.functions[i].key)) continue;
    if (totals[i].high == 0 && !functions->contains(paths.functions[i].key)) continue;  // its neighbour ran
    Function& function = (*functions)[paths.functions[i].key];
    function.total = totals[i];
    if (paths.functions[i].shared) function.total.high += function.ticks;
    function.linkage = paths.functions[i].linkage;
    function.address = paths.functions[i].address;
  }
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
