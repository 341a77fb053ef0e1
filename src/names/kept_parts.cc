#include "names/kept_parts.h"

#include <algorithm>
#include <compare>
#include <tuple>

namespace pctally {
namespace {

/// A text of a file. One that two frames share is not read to compare it.
struct TextOf {
  const NamesSection* section;
  NamesText text;
  bool operator==(const TextOf& other) const { return *this <=> other == 0; }
  std::strong_ordering operator<=>(const TextOf& other) const {
    const bool is_same = section == other.section && text.offset == other.text.offset;
    if (is_same) return text.bytes <=> other.text.bytes;
    return section->text(text) <=> other.section->text(other.text);
  }
};

bool has_lesser_frames(const KeptLines& a, const KeptLines& b) {
  if (a.section == b.section && a.place->first_frame == b.place->first_frame &&
      a.place->frames == b.place->frames)
    return false;
  const auto fields = [](const NamesSection& section, const NamesFrame& frame) {
    return std::tuple(TextOf{&section, frame.function}, TextOf{&section, frame.file}, frame.line,
                      TextOf{&section, frame.linkage}, frame.start_line);
  };
  const auto ours = a.section->frames(*a.place), theirs = b.section->frames(*b.place);
  return std::lexicographical_compare_three_way(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                                [&](const NamesFrame& x, const NamesFrame& y) {
                                                  return fields(*a.section, x) <=> fields(*b.section, y);
                                                }) < 0;
}

template <class Value>
void sort_once(std::vector<Value>* values) {
  std::ranges::sort(*values);
  values->erase(std::unique(values->begin(), values->end()), values->end());
}

void add_code(const KeptObject& kept, KeptParts* parts) {
  const auto ranges = kept.section->ranges(kept.object);
  if (std::ranges::none_of(ranges, [](const NamesRange& range) { return range.code.bytes != 0; })) return;
  for (const NamesRange& range : ranges) {
    parts->positions.push_back(range.first_hit);
    parts->positions.push_back(range.last_hit);
    const CodeView code = code_of(kept, range);
    if (code.bytes.empty()) continue;
    CodeView& known = parts->code[{range.start, range.end}];
    if (code.bytes.data() != known.bytes.data()) known = std::max(known, code);
  }
}

}  // namespace

std::vector<Frame> KeptLines::frames() const {
  std::vector<Frame> frames;
  for (const NamesFrame& frame : section->frames(*place))
    frames.push_back({std::string(section->text(frame.function)), std::string(section->text(frame.file)),
                      frame.line, std::string(section->text(frame.linkage)), frame.start_line});
  return frames;
}

std::vector<Piece<KeptLines>> lines_of(std::span<const KeptObject> objects) {
  std::vector<Piece<KeptLines>> pieces;
  for (const KeptObject& kept : objects)
    for (const NamesPlace& place : kept.section->places(kept.object))
      pieces.push_back({place.position, place.position + place.bytes, {kept.section, &place}});
  return overlay(std::move(pieces), &has_lesser_frames);
}

CodeView code_of(const KeptObject& kept, const NamesRange& range) {
  const NamesObject& object = kept.section->objects()[kept.object];
  return {kept.section->text(range.code), static_cast<uint16_t>(object.machine), object.changed_unix_ns};
}

KeptParts parts_of(std::span<const KeptObject> objects) {
  KeptParts parts;
  for (const KeptObject& kept : objects) add_code(kept, &parts);
  sort_once(&parts.positions);
  parts.places = lines_of(objects);
  return parts;
}

}  // namespace pctally
