#include "names/names_section.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "base/file/byte_reader.h"

namespace pctally {
namespace {

template <class Record>
std::span<const Record> of_object(const std::vector<Record>& records, uint32_t object) {
  const auto own = std::ranges::equal_range(records, object, {}, &Record::object);
  return {own.begin(), own.end()};
}

/// In order, of objects that are there, and none before the end of the one before it.
template <class Record, class First, class Last>
bool is_ascending(const std::vector<Record>& records, size_t objects, First first, Last last) {
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    if (record.object >= objects || first(record) > last(record)) return false;
    if (i == 0 || records[i - 1].object < record.object) continue;
    if (records[i - 1].object > record.object || last(records[i - 1]) >= first(record)) return false;
  }
  return true;
}

/// Whether the section has room for all tables: each is copied, and many that overlap could take any memory.
bool lie_side_by_side(const NamesHead& head) {
  uint64_t left = head.bytes;
  const auto takes = [&left](const NamesTable& table, uint64_t record_bytes) {
    if (table.count > left / record_bytes) return false;
    left -= table.count * record_bytes;
    return true;
  };
  return takes(head.text, 1) && takes(head.objects, sizeof(NamesObject)) &&
         takes(head.ranges, sizeof(NamesRange)) && takes(head.places, sizeof(NamesPlace)) &&
         takes(head.frames, sizeof(NamesFrame)) && takes(head.sources, sizeof(NamesSource));
}

}  // namespace

Result<NamesSection> NamesSection::parse(std::vector<unsigned char> bytes) {
  NamesSection section(std::move(bytes));
  if (auto read = section.read_tables(); !read) return std::unexpected(read.error());
  const bool sound = section.objects_are_sound() && section.ranges_are_sound() &&
                     section.places_are_sound() && section.sources_are_sound();
  if (!sound) return fail(EINVAL, "they are damaged");
  return section;
}

Result<void> NamesSection::read_tables() {
  NamesHead head;
  if (!ByteReader(bytes_).read(0, &head) || memcmp(head.magic, kNamesMagic, sizeof head.magic) != 0)
    return fail(EINVAL, "they are not there");
  if (head.version != kNamesVersion) return fail(EINVAL, "a newer pctally wrote them");
  text_ = head.text;
  const bool whole = head.bytes == bytes_.size() && lie_side_by_side(head) &&
                     ByteReader(bytes_).holds(text_.offset, text_.count) &&
                     read_table(head.objects, &objects_) && read_table(head.ranges, &ranges_) &&
                     read_table(head.places, &places_) && read_table(head.frames, &frames_) &&
                     read_table(head.sources, &sources_);
  if (!whole) return fail(EINVAL, "they are damaged");
  return {};
}

template <class Record>
bool NamesSection::read_table(const NamesTable& table, std::vector<Record>* records) const {
  if (table.count > bytes_.size() / sizeof(Record)) return false;
  const auto bytes = ByteReader(bytes_).slice(table.offset, table.count * sizeof(Record));
  if (bytes.size() != table.count * sizeof(Record)) return false;
  records->resize(table.count);
  if (!bytes.empty()) memcpy(records->data(), bytes.data(), bytes.size());
  return true;
}

bool NamesSection::holds(NamesText text, uint32_t most) const {
  return text.bytes <= most && text.offset <= text_.count && text.bytes <= text_.count - text.offset;
}

bool NamesSection::objects_are_sound() const {
  return std::ranges::all_of(objects_, [this](const NamesObject& object) {
    return object.build_id_bytes <= sizeof object.build_id && holds(object.path, kLongestName);
  });
}

bool NamesSection::ranges_are_sound() const {
  const bool sound = std::ranges::all_of(ranges_, [this](const NamesRange& range) {
    return range.start <= range.first_hit && range.last_hit < range.end && holds(range.name, kLongestName) &&
           holds(range.linkage, kLongestName) && holds(range.code, kMostCode) &&
           range.code.bytes <= range.end - range.start;
  });
  return sound && is_ascending(
                      ranges_, objects_.size(), [](const NamesRange& range) { return range.first_hit; },
                      [](const NamesRange& range) { return range.last_hit; });
}

/// Alone, and those of each place together.
bool NamesSection::frames_are_sound() const {
  std::vector<uint64_t> bytes_before{0};
  for (const NamesFrame& frame : frames_) {
    for (const NamesText text : {frame.function, frame.linkage, frame.file})
      if (!holds(text, kLongestName)) return false;
    bytes_before.push_back(bytes_before.back() + kBytesPerFrame + frame.function.bytes + frame.linkage.bytes +
                           frame.file.bytes);
  }
  return std::ranges::all_of(places_, [&](const NamesPlace& place) {
    return bytes_before[place.first_frame + place.frames] - bytes_before[place.first_frame] <=
           kMostPlaceBytes;
  });
}

bool NamesSection::places_are_sound() const {
  const bool sound = std::ranges::all_of(places_, [this](const NamesPlace& place) {
    return place.bytes != 0 && place.position <= UINT64_MAX - place.bytes && place.frames <= kMostInlined &&
           place.first_frame <= frames_.size() && place.frames <= frames_.size() - place.first_frame;
  });
  return sound &&
         is_ascending(
             places_, objects_.size(), [](const NamesPlace& place) { return place.position; },
             [](const NamesPlace& place) { return place.position + place.bytes - 1; }) &&
         frames_are_sound();
}

bool NamesSection::sources_are_sound() const {
  return std::ranges::all_of(sources_, [this](const NamesSource& source) {
    return holds(source.path, kLongestName) && holds(source.text, kMostSource);
  });
}

std::span<const NamesRange> NamesSection::ranges(uint32_t object) const { return of_object(ranges_, object); }

std::span<const NamesPlace> NamesSection::places(uint32_t object) const { return of_object(places_, object); }

std::span<const NamesFrame> NamesSection::frames(const NamesPlace& place) const {
  return std::span(frames_).subspan(place.first_frame, place.frames);
}

std::string_view NamesSection::text(NamesText text) const {
  const auto bytes = ByteReader(bytes_).slice(text_.offset + text.offset, text.bytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

uint64_t NamesSection::memory() const {
  return bytes_.capacity() + objects_.size() * sizeof(NamesObject) + ranges_.size() * sizeof(NamesRange) +
         places_.size() * sizeof(NamesPlace) + frames_.size() * sizeof(NamesFrame) +
         sources_.size() * sizeof(NamesSource);
}

}  // namespace pctally
