#include "tool/profile_names.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/time_ns.h"
#include "names/names_writer.h"

namespace pctally {
namespace {

void sort_once(std::vector<uint64_t>* values) {
  std::ranges::sort(*values);
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

constexpr size_t kMostCodeOfJit = 16u << 20;  ///< bytes

/// The functions that have so many of all ticks, from start to end.
std::set<std::pair<uint64_t, uint64_t>> hot_ranges(const Profile& profile, const HitPlaces& places,
                                                   const std::vector<NamedRange>& ranges) {
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> ticks;
  for (const WeightedPosition& at : profile.positions) {
    if (at.executable != places.executable) continue;
    const auto found = std::ranges::lower_bound(places.positions, at.position);
    const NamedRange& range = ranges[static_cast<size_t>(found - places.positions.begin())];
    ticks[{range.start, range.end}] += at.ticks;
  }
  std::set<std::pair<uint64_t, uint64_t>> hot;
  for (const auto& [range, own] : ticks)
    if (static_cast<double>(own) >= kHotFrom * static_cast<double>(profile.ledger.ticks())) hot.insert(range);
  return hot;
}

/// The code of the hot functions of a JIT.
std::map<FunctionSpan, CodeBytes> code_of_jit(Symbolizer& symbolizer, const std::set<FunctionSpan>& hot) {
  std::map<FunctionSpan, CodeBytes> all;
  size_t bytes = 0;
  for (const auto& [start, end] : hot) {
    CodeBytes code = symbolizer.code(start, end);
    bytes += code.bytes.size();
    if (!code.bytes.empty() && bytes <= kMostCodeOfJit) all[{start, end}] = std::move(code);
  }
  return all;
}

/// A jitdump has the lines of code made at run time, which nobody finds later.
void add_lines_of_jit(Symbolizer& symbolizer, const std::vector<uint64_t>& positions, NamesWriter* writer) {
  const std::vector<std::vector<Frame>> frames = symbolizer.frames(positions);
  if (std::ranges::all_of(frames, &std::vector<Frame>::empty)) return;
  for (size_t i = 0; i < positions.size(); ++i) writer->add_place(positions[i], 1, frames[i]);
}

void add_object(const ExecutableIdentity& identity, const std::vector<uint64_t>& positions,
                const std::vector<NamedRange>& ranges, const FunctionCode& code, NamesWriter* writer) {
  writer->add_object(identity, code.empty() ? CodeView{} : code.begin()->second);
  writer->add_ranges(positions, ranges);
  writer->add_code(code);
}

std::unexpected<Error> no_room() { return fail(ENOMEM, "they take too much memory"); }

Result<ProfileNames> with_section(ProfileNames names, const NamesWriter& writer) {
  if (writer.empty()) return names;
  auto section = writer.bytes();
  if (!section) return std::unexpected(section.error());
  names.section = std::move(*section);
  return names;
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

Result<ProfileNames> names_of_profile(const Profile& profile, const OpenSymbolizer& open, uint64_t until_ns,
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
    const std::unique_ptr<Symbolizer> symbolizer = open(identity);
    const std::vector<NamedRange> ranges = symbolizer->name(places.positions);
    const bool is_jit = identity.kind == ExecutableIdentity::Kind::kPrivate;
    std::map<FunctionSpan, CodeBytes> code;
    if (is_jit) code = code_of_jit(*symbolizer, hot_ranges(profile, places, ranges));
    add_object(identity, places.positions, ranges, views_of(code), &writer);
    if (is_jit) add_lines_of_jit(*symbolizer, places.positions, &writer);
  }
  return with_section(std::move(names), writer);
}

/// In a file, code, places and sources may share text or frames; the sum has each for itself. Memory is
/// therefore looked at before they are added.
Result<ProfileNames> names_of_sum(const Profile& profile, const OpenSymbolizer& open, const KeptNames& kept,
                                  uint64_t most_bytes) {
  ProfileNames names;
  NamesWriter writer;
  for (HitPlaces& places : hit_places(profile)) {
    ++names.objects;
    const ExecutableIdentity identity = identity_of(profile, profile.executables[places.executable]);
    const KeptParts parts = kept.parts(identity);
    places.positions.insert(places.positions.end(), parts.positions.begin(), parts.positions.end());
    sort_once(&places.positions);
    if (writer.memory() + NamesWriter::memory_for(parts.code) > most_bytes) return no_room();
    add_object(identity, places.positions, open(identity)->name(places.positions), parts.code, &writer);
    for (const Piece<KeptLines>& place : parts.places) {
      if (writer.memory() > most_bytes) return no_room();
      writer.add_place(place.first, static_cast<uint32_t>(place.end - place.first), place.value.frames());
    }
  }
  for (const auto& [path, source] : kept.sources()) {
    if (writer.memory() > most_bytes) return no_room();
    if (!writer.add_source(std::string(path), source.text, source.changed_unix_ns))
      return fail(EFBIG, kTooLargeNames);
  }
  if (writer.memory() > most_bytes) return no_room();
  return with_section(std::move(names), writer);
}

std::string not_written(const std::string& out, const Error& names) {
  const char* unread = names.code == EFBIG ? "" : "its names could not be read: ";
  return fmt::format("{} is not written; {}{}", out, unread, names.text);
}

}  // namespace pctally
