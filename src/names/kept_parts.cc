#include "names/kept_parts.h"

#include <algorithm>
#include <tuple>

namespace pctally {
namespace {

auto fields_of(const Frame& frame) {
  return std::tie(frame.function, frame.file, frame.line, frame.linkage, frame.start_line);
}

bool is_less(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  return std::ranges::lexicographical_compare(
      a, b, [](const Frame& x, const Frame& y) { return fields_of(x) < fields_of(y); });
}

template <class Value>
void sort_once(std::vector<Value>* values) {
  std::ranges::sort(*values);
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

/// The place of an object that holds `position`, or null.
const NamesPlace* place_at(std::span<const NamesPlace> places, uint64_t position) {
  const auto behind = std::ranges::upper_bound(places, position, {}, &NamesPlace::position);
  const NamesPlace* last = behind == places.begin() ? nullptr : &*(behind - 1);
  return last != nullptr && position - last->position < last->bytes ? last : nullptr;
}

std::vector<Frame> frames_of(const NamesSection& section, const NamesPlace& place) {
  std::vector<Frame> frames;
  for (const NamesFrame& frame : section.frames(place))
    frames.push_back({std::string(section.text(frame.function)), std::string(section.text(frame.file)),
                      frame.line, std::string(section.text(frame.linkage)), frame.start_line});
  return frames;
}

/// Between two neighbouring ends of places every object says one thing.
std::vector<KeptPlace> places_of(std::span<const KeptObject> objects) {
  std::vector<uint64_t> ends;
  for (const KeptObject& kept : objects)
    for (const NamesPlace& place : kept.section->places(kept.object)) {
      ends.push_back(place.position);
      ends.push_back(place.position + place.bytes);
    }
  sort_once(&ends);
  std::vector<KeptPlace> places;
  for (size_t i = 0; i + 1 < ends.size(); ++i)
    if (auto frames = frames_at(objects, ends[i]); frames && ends[i + 1] - ends[i] <= UINT32_MAX)
      places.push_back({ends[i], static_cast<uint32_t>(ends[i + 1] - ends[i]), std::move(*frames)});
  return places;
}

void add_code(const KeptObject& kept, KeptParts* parts) {
  const auto ranges = kept.section->ranges(kept.object);
  if (std::ranges::none_of(ranges, [](const NamesRange& range) { return range.code.bytes != 0; })) return;
  for (const NamesRange& range : ranges) {
    parts->positions.push_back(range.first_hit);
    parts->positions.push_back(range.last_hit);
    CodeBytes code = code_of(kept, range);
    if (code.bytes.empty()) continue;
    CodeBytes& known = parts->code[{range.start, range.end}];
    const auto rank = [](const CodeBytes& c) { return std::tie(c.bytes, c.machine, c.changed_unix_ns); };
    if (rank(known) < rank(code)) known = std::move(code);
  }
}

}  // namespace

std::optional<std::vector<Frame>> frames_at(std::span<const KeptObject> objects, uint64_t position) {
  std::optional<std::vector<Frame>> best;
  for (const KeptObject& kept : objects) {
    const NamesPlace* place = place_at(kept.section->places(kept.object), position);
    if (place == nullptr) continue;
    std::vector<Frame> frames = frames_of(*kept.section, *place);
    if (!best || is_less(*best, frames)) best = std::move(frames);
  }
  return best;
}

CodeBytes code_of(const KeptObject& kept, const NamesRange& range) {
  const NamesObject& object = kept.section->objects()[kept.object];
  const std::string_view bytes = kept.section->text(range.code);
  return {.address = range.address != 0 ? range.address : range.start,
          .bytes = {bytes.begin(), bytes.end()},
          .machine = static_cast<uint16_t>(object.machine),
          .changed_unix_ns = object.changed_unix_ns};
}

KeptParts parts_of(std::span<const KeptObject> objects) {
  KeptParts parts;
  for (const KeptObject& kept : objects) add_code(kept, &parts);
  sort_once(&parts.positions);
  parts.places = places_of(objects);
  return parts;
}

}  // namespace pctally
