#include "names/names_writer.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "names/names_section.h"

namespace pctally {
namespace {

/// An object that could not be read has this range: it names nothing.
bool is_nothing(const NamedRange& range) { return range.start == 0 && range.end == UINT64_MAX; }

template <class Record>
NamesTable append(const std::vector<Record>& records, std::vector<unsigned char>* bytes) {
  const NamesTable table{bytes->size(), records.size()};
  const auto* first = reinterpret_cast<const unsigned char*>(records.data());
  bytes->insert(bytes->end(), first, first + records.size() * sizeof(Record));
  return table;
}

/// As of kMostPlaceBytes.
size_t bytes_of(std::span<const Frame> frames) {
  size_t bytes = frames.size() * kBytesPerFrame;
  for (const Frame& frame : frames) bytes += frame.function.size() + frame.linkage.size() + frame.file.size();
  return bytes;
}

constexpr uint64_t kCopiesOfText = 4;     ///< as of memory()
constexpr uint64_t kBytesPerKnown = 128;  ///< of a name, or of frames, that may come again

}  // namespace

FunctionCode views_of(const std::map<FunctionSpan, CodeBytes>& code) {
  FunctionCode views;
  for (const auto& [span, own] : code)
    views[span] = {{reinterpret_cast<const char*>(own.bytes.data()), own.bytes.size()},
                   own.machine,
                   own.changed_unix_ns};
  return views;
}

/// Text beyond what a section holds is left out.
NamesText NamesWriter::add_text(std::string_view text) {
  if (text.size() > kLargestNamesBytes - text_.size()) return {};
  const NamesText place{static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(text.size())};
  text_ += text;
  return place;
}

NamesText NamesWriter::add_name(const std::string& name) {
  const auto known = known_.find(name);
  if (known != known_.end() || name.empty()) return name.empty() ? NamesText{} : known->second;
  const NamesText place = add_text(std::string_view(name).substr(0, kLongestName));
  known_.emplace(name, place);
  return place;
}

void NamesWriter::add_object(const ExecutableIdentity& identity, const CodeView& code) {
  NamesObject object{};
  object.kind = static_cast<uint32_t>(identity.kind);
  object.owner = identity.owner;
  object.path = add_name(identity.path);
  object.build_id_bytes = static_cast<uint32_t>(std::min(identity.build_id.size(), sizeof object.build_id));
  std::copy_n(identity.build_id.begin(), object.build_id_bytes, object.build_id);
  object.device = identity.device;
  object.inode = identity.inode;
  object.file_bytes = identity.file_bytes;
  object.time_unix_ns = identity.time_unix_ns;
  std::copy_n(identity.boot_id.begin(), std::min(identity.boot_id.size(), sizeof object.boot_id),
              object.boot_id);
  object.machine = code.machine;
  object.changed_unix_ns = code.changed_unix_ns;
  objects_.push_back(object);
  first_range_ = ranges_.size();
}

void NamesWriter::add_ranges(std::span<const uint64_t> positions, std::span<const NamedRange> ranges) {
  const auto object = static_cast<uint32_t>(objects_.size() - 1);
  const NamedRange* last = nullptr;
  for (size_t i = 0; i < positions.size(); ++i) {
    const NamedRange& range = ranges[i];
    const bool inside = range.start <= positions[i] && positions[i] < range.end;
    const bool again = last != nullptr && last->start == range.start && last->end == range.end &&
                       last->function == range.function;
    last = is_nothing(range) || !inside ? nullptr : &range;
    if (last == nullptr) continue;
    if (again)
      ranges_.back().last_hit = positions[i];
    else
      ranges_.push_back({object,
                         0,
                         positions[i],
                         positions[i],
                         range.start,
                         range.end,
                         range.address,
                         add_name(range.function),
                         add_name(range.linkage),
                         {}});
  }
}

void NamesWriter::add_code(const FunctionCode& code) {
  // Code made at run time may have taken the place of longer code.
  const bool may_cut = objects_.back().kind != static_cast<uint32_t>(ExecutableIdentity::Kind::kPrivate);
  std::map<FunctionSpan, NamesText> added;
  for (NamesRange& range : std::span(ranges_).subspan(first_range_)) {
    const auto found = code.lower_bound({range.start, range.end});
    if (found == code.end() || found->first.first != range.start) continue;
    if (found->first.second != range.end && !may_cut) continue;
    const auto [text, fresh] = added.try_emplace(found->first);
    if (fresh) text->second = add_text(found->second.bytes);
    range.code = text->second;
    range.code.bytes = static_cast<uint32_t>(std::min<uint64_t>(range.code.bytes, range.end - range.start));
  }
}

void NamesWriter::add_place(uint64_t position, uint32_t bytes, std::span<const Frame> frames) {
  if (frames.size() > kMostInlined || bytes_of(frames) > kMostPlaceBytes) return;
  std::vector<NamesFrame> records;
  for (const Frame& frame : frames)
    records.push_back({add_name(frame.function), add_name(frame.linkage), add_name(frame.file), frame.line,
                       frame.start_line});
  const std::string key(reinterpret_cast<const char*>(records.data()), records.size() * sizeof(NamesFrame));
  const auto [known, fresh] = known_frames_.try_emplace(key, static_cast<uint32_t>(frames_.size()));
  if (fresh) frames_.insert(frames_.end(), records.begin(), records.end());
  const auto object = static_cast<uint32_t>(objects_.size() - 1);
  const auto count = static_cast<uint32_t>(records.size());
  if (!places_.empty()) {
    NamesPlace& last = places_.back();
    const bool joins = last.object == object && last.position + last.bytes == position &&
                       last.first_frame == known->second && last.frames == count &&
                       bytes <= UINT32_MAX - last.bytes;
    if (joins) last.bytes += bytes;
    if (joins) return;
  }
  places_.push_back({object, bytes, position, known->second, count});
}

bool NamesWriter::add_source(const std::string& path, std::string_view text, uint64_t changed_unix_ns) {
  if (text.size() > kMostSource || text.size() > kLargestNamesBytes - text_.size()) return false;
  sources_.push_back({add_name(path), add_text(text), changed_unix_ns});
  return true;
}

/// The tables are here, in the section, which may grow by copying, and in what is read of it; names are in
/// the index, too.
uint64_t NamesWriter::memory() const {
  const uint64_t tables = objects_.size() * sizeof(NamesObject) + ranges_.size() * sizeof(NamesRange) +
                          places_.size() * sizeof(NamesPlace) + frames_.size() * sizeof(NamesFrame) +
                          sources_.size() * sizeof(NamesSource);
  return 5 * tables + kCopiesOfText * text_.size() + (known_.size() + known_frames_.size()) * kBytesPerKnown;
}

uint64_t NamesWriter::memory_for(const FunctionCode& code) {
  uint64_t bytes = 0;
  for (const auto& [span, own] : code) bytes += own.bytes.size();
  return kCopiesOfText * bytes;
}

Result<std::vector<unsigned char>> NamesWriter::bytes() const {
  std::vector<unsigned char> bytes(sizeof(NamesHead));
  NamesHead head{};
  memcpy(head.magic, kNamesMagic, sizeof head.magic);
  head.version = kNamesVersion;
  head.objects = append(objects_, &bytes);
  head.ranges = append(ranges_, &bytes);
  head.places = append(places_, &bytes);
  head.frames = append(frames_, &bytes);
  head.sources = append(sources_, &bytes);
  head.text = {bytes.size(), text_.size()};
  bytes.insert(bytes.end(), text_.begin(), text_.end());
  head.bytes = bytes.size();
  memcpy(bytes.data(), &head, sizeof head);
  if (bytes.size() > kLargestNamesBytes) return fail(EFBIG, kTooLargeNames);
  auto section = NamesSection::parse(std::move(bytes));
  if (!section) return std::unexpected(section.error());
  return std::move(*section).take_bytes();
}

}  // namespace pctally
