#include "tick/unwind/cfi_entry.h"

namespace pctally {
namespace {

using namespace pointer_encoding;

/// The entry at `offset` of .eh_frame without its length. The 64-bit form is not used there.
CfiCursor entry_at(const CfiSections& sections, uint64_t offset) noexcept {
  if (offset >= sections.frames_bytes) return {};
  CfiCursor cursor(sections.frames + offset, sections.frames + sections.frames_bytes);
  const auto length = cursor.take<uint32_t>();
  return length == UINT32_MAX ? CfiCursor() : cursor.part(length);
}

constexpr uint64_t kMostLetters = 16;  ///< of an augmentation; "zPLRSB" is the longest that is written

/// A pointer encoding, or that the frame is a signal's, would be behind data of unknown length.
bool any_is_needed(CfiCursor letters) noexcept {
  while (letters.left() != 0) {
    const char letter = letters.take<char>();
    if (letter == 'R' || letter == 'S' || letter == 'P' || letter == 'L') return true;
  }
  return false;
}

/// The letters behind the 'z', and what they bring, up to one that is not known: 'z' tells how long it all
/// is.
bool read_augmentation(CfiCursor letters, CfiCursor* cursor, Cie* cie) noexcept {
  CfiCursor data = cursor->part(cursor->take_uleb());
  while (letters.left() != 0) {
    switch (letters.take<char>()) {
      case 'R':
        cie->encoding = data.take<uint8_t>();
        break;
      case 'P':
        (void)take_pointer(&data, data.take<uint8_t>(), 0);
        break;
      case 'L':
        (void)data.take<uint8_t>();
        break;
      case 'S':
        cie->is_signal = true;
        break;
      case 'B':  // aarch64
        break;
      default:  // its data has a length, but what another letter behind it would need is not known
        return data.good() && !any_is_needed(letters);
    }
  }
  return data.good();
}

bool read_cie(const CfiSections& sections, uint64_t offset, Cie* cie) noexcept {
  CfiCursor cursor = entry_at(sections, offset);
  const bool is_cie = cursor.take<uint32_t>() == 0;
  const auto version = cursor.take<uint8_t>();
  if (!cursor.good() || !is_cie || (version != 1 && version != 3)) return false;
  const unsigned char* text = cursor.at();
  uint64_t bytes = 0;
  while (bytes <= kMostLetters && cursor.take<char>() != 0) ++bytes;
  if (!cursor.good() || bytes > kMostLetters) return false;
  CfiCursor letters(text, cursor.at() - 1);
  cie->code_unit = cursor.take_uleb();
  cie->data_unit = cursor.take_sleb();
  cie->return_register = version == 1 ? cursor.take<uint8_t>() : cursor.take_uleb();
  cie->has_augmentation = letters.left() != 0;
  if (cie->has_augmentation && (letters.take<char>() != 'z' || !read_augmentation(letters, &cursor, cie)))
    return false;
  cie->instructions = cursor;
  return cursor.good();
}

/// The table of .eh_frame_hdr: for every function its first address and that of its entry.
class SortedTable {
 public:
  explicit SortedTable(const CfiSections& sections) noexcept : base_(sections.header_address) {
    CfiCursor cursor(sections.header, sections.header + sections.header_bytes);
    const auto version = cursor.take<uint8_t>(), frames = cursor.take<uint8_t>(),
               counted = cursor.take<uint8_t>(), sorted = cursor.take<uint8_t>();
    if (version != 1 || counted != kUnsigned4 || sorted != kSortedTable) return;
    if (frames != kOmitted) (void)take_pointer(&cursor, frames, 0);
    const auto count = cursor.take<uint32_t>();
    if (!cursor.good() || cursor.left() / 8 < count) return;
    table_ = cursor.at();
    count_ = count;
  }
  [[nodiscard]] uint32_t count() const noexcept { return count_; }
  [[nodiscard]] uint64_t function(uint64_t number) const noexcept { return field(number * 2); }
  [[nodiscard]] uint64_t entry(uint64_t number) const noexcept { return field(number * 2 + 1); }

 private:
  [[nodiscard]] uint64_t field(uint64_t index) const noexcept {
    int32_t distance;
    __builtin_memcpy(&distance, table_ + index * sizeof distance, sizeof distance);
    return base_ + static_cast<uint64_t>(static_cast<int64_t>(distance));
  }
  uint64_t base_;
  const unsigned char* table_ = nullptr;
  uint32_t count_ = 0;
};

/// Address of the last entry of the sorted table whose function starts at or below `address`, that start, and
/// the next one's.
bool find_entry(const CfiSections& sections, uint64_t address, uint64_t* entry, uint64_t* start,
                uint64_t* next) noexcept {
  const SortedTable table(sections);
  uint64_t low = 0;
  for (uint64_t left = table.count(); left != 0;) {
    const uint64_t half = left / 2;
    const bool below = table.function(low + half) <= address;
    low += below ? half + 1 : 0;
    left = below ? left - half - 1 : half;
  }
  if (low == 0) return false;
  *entry = table.entry(low - 1);
  *start = table.function(low - 1);
  *next = low == table.count() ? UINT64_MAX : table.function(low);
  return true;
}

}  // namespace

bool read_fde(const CfiSections& sections, uint64_t address, Fde* fde) noexcept {
  const uint64_t offset = address - sections.frames_address;
  CfiCursor cursor = entry_at(sections, offset);
  const auto distance = cursor.take<uint32_t>();
  if (!cursor.good() || distance == 0 || distance > offset + 4) return false;
  if (!read_cie(sections, offset + 4 - distance, &fde->cie)) return false;
  const auto place = static_cast<uint64_t>(cursor.at() - sections.frames);
  fde->start = take_pointer(&cursor, fde->cie.encoding, sections.frames_address + place);
  fde->end = fde->start + take_pointer(&cursor, fde->cie.encoding & kFormat, 0);
  if (fde->cie.has_augmentation) (void)cursor.part(cursor.take_uleb());
  fde->instructions = cursor;
  return cursor.good() && fde->start < fde->end;
}

FdeFound find_fde(const CfiSections& sections, uint64_t address, Fde* fde) noexcept {
  uint64_t entry = 0, start = 0, next = 0;
  if (address == UINT64_MAX || !find_entry(sections, address, &entry, &start, &next)) return FdeFound::kNone;
  if (!read_fde(sections, entry, fde)) {
    fde->start = start;
    return FdeFound::kUnreadable;
  }
  return address >= fde->start && address < fde->end ? FdeFound::kFound : FdeFound::kNone;
}

bool find_gap(const CfiSections& sections, uint64_t address, uint64_t* start, uint64_t* end) noexcept {
  uint64_t entry = 0, function = 0;
  Fde fde;
  if (!find_entry(sections, address, &entry, &function, end) || !read_fde(sections, entry, &fde))
    return false;
  *start = fde.end;
  return address >= fde.end && *end != UINT64_MAX;
}

uint32_t count_fdes(const CfiSections& sections) noexcept { return SortedTable(sections).count(); }

bool fde_at(const CfiSections& sections, uint32_t number, uint64_t* from, Fde* fde) noexcept {
  const SortedTable table(sections);
  *from = table.function(number);
  return read_fde(sections, table.entry(number), fde);
}

}  // namespace pctally
