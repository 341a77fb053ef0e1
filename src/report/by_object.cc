#include <map>
#include <utility>

#include "report/rollup.h"

namespace pctally {
namespace {

/// Numbers the rows of objects. Code made at run time is one object, whichever process made it, and so is the
/// kernel, whichever boot it is of.
class Objects {
 public:
  explicit Objects(ObjectNames& names) : names_(names) {}

  uint32_t row(uint32_t executable) {
    const uint32_t identity = names_.known_by_name(executable) ? 0 : executable;
    const auto [entry, fresh] =
        numbers_.try_emplace({names_.shown(executable), identity}, static_cast<uint32_t>(rows.size()));
    if (fresh) rows.emplace_back().object = entry->first.first;
    return entry->second;
  }
  /// The row of each node that is code.
  std::vector<uint32_t> rows_of(const PathTree& tree) {
    std::vector<uint32_t> found;
    found.reserve(tree.size());
    for (const PathTreeNode& node : tree)
      found.push_back(node.kind == PathNodeKind::kCode ? row(node.executable) : PathFunctions::kNone);
    return found;
  }

  std::vector<Row> rows;

 private:
  ObjectNames& names_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> numbers_;
};

}  // namespace

std::vector<Row> rows_by_object(const Profile& profile, ObjectNames& names, bool totals) {
  Objects objects(names);
  for (const WeightedPosition& position : profile.positions)
    objects.rows[objects.row(position.executable)].ticks += position.ticks;
  if (!totals) return std::move(objects.rows);
  PathThings things;
  things.context = objects.rows_of(profile.paths.context);
  things.plane = objects.rows_of(profile.paths.plane);
  things.count = objects.rows.size();
  const std::vector<PathTotal> found = path_totals(profile, things);
  for (size_t i = 0; i < found.size(); ++i) {
    objects.rows[i].total = found[i];
    include_own(objects.rows[i].ticks, &objects.rows[i].total);
  }
  return std::move(objects.rows);
}

}  // namespace pctally
