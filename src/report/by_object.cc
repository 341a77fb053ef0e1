#include <map>
#include <utility>

#include "report/rollup.h"

namespace pctally {

std::vector<Row> rows_by_object(const Profile& profile, ObjectNames& names) {
  std::map<std::pair<std::string, uint32_t>, uint64_t> objects;
  for (const WeightedPosition& position : profile.positions) {
    bool is_private = profile.executables[position.executable].kind == ExecutableKind::kPrivate;
    objects[{names.shown(position.executable), is_private ? 0 : position.executable}] += position.ticks;
  }
  std::vector<Row> rows;
  for (const auto& [key, ticks] : objects) {
    Row row;
    row.object = key.first;
    row.ticks = ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pctally
