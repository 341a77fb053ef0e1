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

/// A jitdump has them, which nobody finds later.
void add_lines_of_jit(Symbolizer& symbolizer, const std::vector<uint64_t>& positions, NamesWriter* writer) {
  std::vector<std::vector<Frame>> frames = symbolizer.frames(positions);
  frames.resize(positions.size());
  if (std::ranges::all_of(frames, &std::vector<Frame>::empty)) return;
  for (size_t i = 0; i < positions.size(); ++i) writer->add_place(positions[i], 1, frames[i]);
}

void add_object(const ExecutableIdentity& identity, const std::vector<uint64_t>& positions,
                const KeptParts& parts, const OpenSymbolizer& open, NamesWriter* writer) {
  const std::unique_ptr<Symbolizer> symbolizer = open(identity);
  std::vector<NamedRange> ranges = symbolizer->name(positions);
  ranges.resize(positions.size());
  writer->add_object(identity, parts.code.empty() ? CodeBytes{} : parts.code.begin()->second);
  writer->add_ranges(positions, ranges);
  for (const auto& [start, code] : parts.code) writer->add_code(start, code.bytes);
  for (const KeptPlace& place : parts.places) writer->add_place(place.position, place.bytes, place.frames);
  if (identity.kind == ExecutableIdentity::Kind::kPrivate && parts.places.empty())
    add_lines_of_jit(*symbolizer, positions, writer);
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

ProfileNames names_of_profile(const Profile& profile, const OpenSymbolizer& open, uint64_t until_ns,
                              const std::function<bool(uint32_t)>& may_open) {
  ProfileNames names;
  NamesWriter writer;
  for (const HitPlaces& places : hit_places(profile)) {
    ++names.objects;
    if (monotonic_ns() >= until_ns || (may_open && !may_open(places.executable))) {
      ++names.late;
      continue;
    }
    const ExecutableIdentity identity = identity_of(profile, profile.executables[places.executable]);
    add_object(identity, places.positions, {}, open, &writer);
  }
  if (!writer.empty()) names.section = writer.bytes();
  return names;
}

ProfileNames names_of_sum(const Profile& profile, const OpenSymbolizer& open, const KeptNames& kept) {
  ProfileNames names;
  NamesWriter writer;
  for (HitPlaces& places : hit_places(profile)) {
    ++names.objects;
    const ExecutableIdentity identity = identity_of(profile, profile.executables[places.executable]);
    const KeptParts parts = kept.parts(identity);
    places.positions.insert(places.positions.end(), parts.positions.begin(), parts.positions.end());
    sort_once(&places.positions);
    add_object(identity, places.positions, parts, open, &writer);
  }
  for (const auto& [path, source] : kept.sources())
    writer.add_source(path, source.text, source.changed_unix_ns);
  if (!writer.empty()) names.section = writer.bytes();
  return names;
}

}  // namespace pctally
