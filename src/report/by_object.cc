#include <map>
#include <utility>

#include "report/rollup.h"

namespace pctally {
namespace {

/// Numbers the rows of objects. Code made at run time is one object, whichever process made it.
class Objects {
 public:
  Objects(const Profile& profile, ObjectNames& names) : profile_(profile), names_(names) {}

  uint32_t row(uint32_t executable) {
    const bool is_private = profile_.executables[executable].kind == ExecutableKind::kPrivate;
    const auto [entry, fresh] = numbers_.try_emplace({names_.shown(executable), is_private ? 0 : executable},
                                                     static_cast<uint32_t>(rows.size()));
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
  const Profile& profile_;
  ObjectNames& names_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> numbers_;
};

}  // namespace

std::vector<Row> rows_by_object(const Profile& profile, ObjectNames& names, bool totals) {
  Objects objects(profile, names);
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
