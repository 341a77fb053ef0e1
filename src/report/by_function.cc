#include <map>
#include <tuple>

#include "report/rollup.h"

namespace pctally {
namespace {

/// Two static functions of one name are two functions: they are told apart by where they start. A JIT
/// compiles one function many times, in many places: those are one.
using Key = std::tuple<std::string, std::string, uint32_t, uint64_t>;

struct Function {
  uint64_t ticks = 0;
  uint64_t address = 0;
  std::string linkage;
};

/// Adds one executable's ticks range by range: a function's positions are neighbours.
void add_executable(const ExecutableTicks& part, bool is_private, ObjectNames& names,
                    std::map<Key, Function>* functions) {
  std::vector<NamedRange> ranges = names.symbolizer(part.executable).name(part.positions);
  ranges.resize(part.positions.size());
  for (size_t i = 0; i < ranges.size();) {
    uint64_t ticks = 0;
    size_t first = i;
    do {
      ticks += part.ticks[i++];
    } while (i < ranges.size() && ranges[i].start == ranges[first].start &&
             ranges[i].function == ranges[first].function);
    Key key(names.shown(part.executable), std::move(ranges[first].function), is_private ? 0 : part.executable,
            is_private ? 0 : ranges[first].start);
    Function& function = (*functions)[std::move(key)];
    function.ticks += ticks;
    function.linkage = std::move(ranges[first].linkage);
    if (!is_private)
      function.address = ranges[first].address != 0 ? ranges[first].address : ranges[first].start;
  }
}

}  // namespace

std::vector<Row> rows_by_function(const Profile& profile, ObjectNames& names) {
  std::map<Key, Function> functions;
  for_each_batch(profile, [&](const ExecutableTicks& part) {
    bool is_private = profile.executables[part.executable].kind == ExecutableKind::kPrivate;
    add_executable(part, is_private, names, &functions);
  });
  std::vector<Row> rows;
  for (auto& [key, function] : functions) {
    Row row;
    row.object = std::get<0>(key);
    row.function = std::get<1>(key);
    row.linkage = std::move(function.linkage);
    row.address = function.address;
    row.ticks = function.ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pctally
