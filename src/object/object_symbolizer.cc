#include "object/object_symbolizer.h"

#include <elf.h>

#include <algorithm>
#include <utility>

#include "base/time_ns.h"
#include "object/dwarf/debug_sections.h"
#include "object/elf/packed_symbols.h"

namespace pctally {
namespace {

bool has_symbol_table(const ElfFile& file) {
  return std::ranges::find(file.sections(), uint32_t{SHT_SYMTAB}, &ElfSection::type) != file.sections().end();
}

bool has_no_symbol(const NamedRange& range) { return range.function.starts_with('['); }

}  // namespace

ObjectSymbolizer::ObjectSymbolizer(std::string object_name, std::string label, std::unique_ptr<ElfFile> file,
                                   std::string problem, DebugFinder finder)
    : object_name_(std::move(object_name)),
      label_(std::move(label)),
      file_(std::move(file)),
      problem_(std::move(problem)),
      finder_(std::move(finder)) {}

std::vector<NamedRange> ObjectSymbolizer::find_names(std::span<const uint64_t> positions) {
  std::vector<NamedRange> result(positions.size());
  for (size_t i = 0; i < positions.size(); i++) result[i] = not_loaded(positions[i]);
  if (!file_) return result;
  const Addresses addresses = addresses_of(positions);
  std::vector<NamedRange> ranges = text().name(addresses.values);
  // A table of symbols may have been reduced.
  if (!others_taken_ && std::ranges::any_of(ranges, has_no_symbol)) {
    if (const ElfFile* others = other_symbols()) {
      text_->add_tables(*others);
      ranges = text_->name(addresses.values);
    }
  }
  for (size_t i = 0; i < ranges.size(); i++) {
    const size_t at = addresses.positions[i];
    result[at] = to_positions(std::move(ranges[i]), addresses.values[i], positions[at]);
  }
  if (file_->shrank() || (debug_ && debug_->shrank())) complain("the file was cut while it was read");
  if (file_->is_cut() && !debug_) complain("the file is cut short: its symbols lay behind its end");
  return result;
}

/// What names code that is not here is a debug file.
bool ObjectSymbolizer::has_other_names() { return file_ && (!file_->has_code() || debug_file() != nullptr); }

std::vector<std::vector<Frame>> ObjectSymbolizer::find_frames(std::span<const uint64_t> positions) {
  std::vector<std::vector<Frame>> result(positions.size());
  if (!frames_opened_) open_frames();
  if (!frames_) return result;
  const Addresses addresses = addresses_of(positions);
  std::vector<std::vector<Frame>> found = frames_->frames(addresses.values);
  if (line_problem_.empty()) line_problem_ = frames_->problem();
  std::vector<NamedRange> names;
  for (size_t i = 0; i < found.size(); i++) {
    const size_t at = addresses.positions[i];
    result[at] = std::move(found[i]);
    if (result[at].empty() || !result[at].back().function.empty()) continue;
    if (names.empty()) names = name(positions);
    result[at].back().function = names[at].function;
    result[at].back().linkage = names[at].linkage;
  }
  take_symbols_of_copies(&result);
  return result;
}

/// A function that is also inlined has one name. That of a clone is none of the function.
void ObjectSymbolizer::take_symbols_of_copies(std::vector<std::vector<Frame>>* frames) {
  std::vector<uint64_t> starts;
  for (const std::vector<Frame>& chain : *frames)
    for (const Frame& frame : chain)
      if (frame.copy != 0 && copies_.try_emplace(frame.copy).second) starts.push_back(frame.copy);
  std::ranges::sort(starts);
  std::vector<NamedRange> ranges = starts.empty() ? std::vector<NamedRange>() : text().name(starts);
  for (size_t i = 0; i < starts.size(); i++) copies_[starts[i]] = std::move(ranges[i]);
  for (std::vector<Frame>& chain : *frames)
    for (Frame& frame : chain) {
      if (frame.copy == 0) continue;
      const NamedRange& symbol = copies_[std::exchange(frame.copy, 0)];
      if (symbol.linkage.empty() || symbol.linkage.find('.') != std::string::npos) continue;
      frame.function = symbol.function;
      frame.linkage = symbol.linkage;
    }
}

TextMap& ObjectSymbolizer::text() {
  if (!text_) text_.emplace(*file_, has_symbol_table(*file_) ? nullptr : other_symbols(), label_);
  return *text_;
}

std::vector<std::vector<SymbolName>> ObjectSymbolizer::find_aliases(std::span<const uint64_t> starts) {
  std::vector<std::vector<SymbolName>> result(starts.size());
  if (!file_) return result;
  const Addresses addresses = addresses_of(starts);
  std::vector<std::vector<SymbolName>> found = text().aliases(addresses.values);
  for (size_t i = 0; i < found.size(); i++) result[addresses.positions[i]] = std::move(found[i]);
  return result;
}

CodeBytes ObjectSymbolizer::code(uint64_t start, uint64_t end) {
  constexpr uint64_t kMost = 4 << 20;
  CodeBytes code;
  if (!file_) return code;
  const auto address = file_->address(FileOffset{start});
  if (!address) return code;
  code.address = address->value;
  code.machine = file_->machine();
  code.changed_unix_ns = to_ns(file_->status().st_mtim);
  if (!file_->has_code() || start > end) return code;
  for (const ElfSegment& segment : file_->segments()) {
    if (segment.type != PT_LOAD || start < segment.offset || start - segment.offset >= segment.file_size)
      continue;
    const uint64_t length = std::min(end - start, segment.file_size - (start - segment.offset));
    const auto bytes = file_->bytes().slice(start, length <= kMost ? length : 0);
    code.bytes.assign(bytes.begin(), bytes.end());
    break;
  }
  if (file_->shrank()) complain("the file was cut while it was read");
  return code;
}

SourceDigests ObjectSymbolizer::digests(std::span<const uint64_t> positions) {
  if (!frames_opened_) open_frames();
  return frames_ ? frames_->digests(addresses_of(positions).values) : SourceDigests{};
}

std::optional<uint64_t> ObjectSymbolizer::position(uint64_t address) {
  if (!file_) return {};
  const auto offset = file_->offset(ObjectAddress{address});
  return offset ? std::optional(offset->value) : std::nullopt;
}

/// A debug file beside it is its owner's, the caller's or root's.
std::optional<uid_t> ObjectSymbolizer::owner() const {
  const bool is_file = file_ && file_->status().st_ino != 0;
  return is_file ? std::optional(file_->status().st_uid) : std::nullopt;
}

ObjectSymbolizer::Addresses ObjectSymbolizer::addresses_of(std::span<const uint64_t> positions) const {
  std::vector<std::pair<uint64_t, size_t>> pairs;
  pairs.reserve(positions.size());
  for (size_t i = 0; i < positions.size(); i++) {
    if (auto address = file_->address(FileOffset{positions[i]})) pairs.emplace_back(address->value, i);
  }
  // Segments need not lie in the file in the order of their addresses.
  if (!std::ranges::is_sorted(pairs)) std::ranges::sort(pairs);
  Addresses result;
  for (const auto& [address, position] : pairs) {
    result.values.push_back(address);
    result.positions.push_back(position);
  }
  return result;
}

NamedRange ObjectSymbolizer::to_positions(NamedRange range, uint64_t address, uint64_t position) const {
  const uint64_t before = std::min(address - range.start, position);
  const uint64_t after = std::min(range.end - address, UINT64_MAX - position);
  return {std::move(range.function), position - before, position + after, std::move(range.linkage),
          range.start};
}

/// What is not loaded from the file has no address.
NamedRange ObjectSymbolizer::not_loaded(uint64_t position) const {
  NamedRange range{"[" + label_ + "]", 0, UINT64_MAX};
  if (!file_) return range;
  for (const ElfSegment& segment : file_->segments()) {
    if (segment.type != PT_LOAD) continue;
    const uint64_t end = segment.offset + std::min(segment.file_size, UINT64_MAX - segment.offset);
    if (end <= position) range.start = std::max(range.start, end);
    if (segment.offset > position) range.end = std::min(range.end, segment.offset);
  }
  return range;
}

const ElfFile* ObjectSymbolizer::debug_file() {
  if (!debug_searched_) debug_ = finder_.find(*file_);
  debug_searched_ = true;
  return debug_.get();
}

/// The file that has symbols which the object itself may lack. REQUIRES: they are then in text_.
const ElfFile* ObjectSymbolizer::other_symbols() {
  others_taken_ = true;
  if (const ElfFile* debug = debug_file()) return debug;
  auto unpacked = unpack_symbols(*file_);
  if (!unpacked) complain(unpacked.error().text);
  if (unpacked) unpacked_ = std::move(*unpacked);
  return unpacked_.get();
}

void ObjectSymbolizer::open_frames() {
  frames_opened_ = true;
  if (!file_) return;
  const ElfFile* source = has_line_information(*file_) ? &*file_ : debug_file();
  if (source == nullptr || !has_line_information(*source)) {
    line_problem_ = "no line information (compile with -g, or install the package's debug symbols)";
    return;
  }
  auto frames = DwarfFrames::open(*source);
  if (frames)
    frames_ = std::move(*frames);
  else
    line_problem_ = frames.error().text;
}

void ObjectSymbolizer::complain(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

}  // namespace pctally
