#include "tool/profile_names.h"

#include <algorithm>
#include <map>

#include "base/time_ns.h"
#include "names/names_writer.h"

namespace pctally {
namespace {

void sort_once(std::vector<uint64_t>* values) {
  std::ranges::sort(*values);
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

}  // namespace

std::vector<HitPlaces> hit_places(const Profile& profile) {
  std::map<uint32_t, HitPlaces> hit;
  for (const WeightedPosition& position : profile.positions) {
    HitPlaces& places = hit[position.executable];
    places.ticks += position.ticks;
    places.positions.push_back(position.position);
  }
  for (const PathTree* tree : {&profile.paths.context, &profile.paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) hit[node.executable].positions.push_back(node.position);
  std::vector<HitPlaces> result;
  for (auto& [executable, places] : hit) {
    places.executable = executable;
    sort_once(&places.positions);
    result.push_back(std::move(places));
  }
  std::ranges::stable_sort(result, std::greater(), &HitPlaces::ticks);
  return result;
}

ProfileNames names_of_profile(const Profile& profile, const OpenSymbolizer& open, uint64_t until_ns) {
  ProfileNames names;
  NamesWriter writer;
  for (const HitPlaces& places : hit_places(profile)) {
    ++names.objects;
    if (monotonic_ns() >= until_ns) {
      ++names.late;
      continue;
    }
    const ExecutableIdentity identity = identity_of(profile, profile.executables[places.executable]);
    std::vector<NamedRange> ranges = open(identity)->name(places.positions);
    ranges.resize(places.positions.size());
    writer.add_object(identity);
    writer.add_ranges(places.positions, ranges);
  }
  if (!writer.empty()) names.section = writer.bytes();
  return names;
}

}  // namespace pctally
