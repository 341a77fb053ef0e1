#include "object/elf/eh_frame.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace pctally {
namespace {

// DW_EH_PE_*: how a pointer is stored (low four bits) and what it is relative to (next three).
constexpr unsigned kFormat = 0x0f;
constexpr unsigned kUnsigned4 = 0x03;
constexpr unsigned kSigned4 = 0x0b;
constexpr unsigned kSigned4FromTable = 0x3b;

/// Bytes of a pointer of this encoding; 0 if its length varies.
unsigned pointer_size(unsigned encoding, bool is_64_bit) {
  switch (encoding & kFormat) {
    case 0x00:
      return is_64_bit ? 8 : 4;
    case 0x02:
    case 0x0a:
      return 2;
    case kUnsigned4:
    case kSigned4:
      return 4;
    case 0x04:
    case 0x0c:
      return 8;
    default:
      return 0;
  }
}

/// Steps over the fields of a common information entry. After a failed step every further one fails.
class Cursor {
 public:
  Cursor(const ByteReader& bytes, uint64_t offset) : bytes_(bytes), offset_(offset) {}
  uint8_t byte() {
    uint8_t value = 0;
    good_ = good_ && bytes_.read(offset_++, &value);
    return value;
  }
  void skip(uint64_t count) {
    good_ = good_ && bytes_.holds(offset_, count);
    if (good_) offset_ += count;
  }
  void skip_leb() {
    while (good_ && (byte() & 0x80) != 0) {
    }
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  const ByteReader& bytes_;
  uint64_t offset_;
  bool good_ = true;
};

struct Augmentation {
  char letters[8] = {};
};

Augmentation read_augmentation(Cursor* cursor) {
  Augmentation result;
  for (size_t i = 0; i < sizeof result.letters; i++) {
    result.letters[i] = static_cast<char>(cursor->byte());
    if (result.letters[i] == 0) return result;
  }
  return {};  // longer than any known: read as having no pointer encoding
}

/// The encoding letter 'R' gives, or absolute pointers if there is none.
unsigned encoding_of(const Augmentation& augmentation, Cursor* cursor, bool is_64_bit) {
  for (const char* letter = augmentation.letters + 1; *letter != 0; letter++) {
    if (*letter == 'R') return cursor->byte();
    if (*letter == 'L') cursor->byte();
    if (*letter == 'P') cursor->skip(pointer_size(cursor->byte(), is_64_bit));
  }
  return 0;
}

}  // namespace

std::optional<EhFrame> EhFrame::open(const ElfFile& file) {
  const ElfSegment* header = file.segment(PT_GNU_EH_FRAME);
  EhFrame frame(file);
  if (header == nullptr || !file.has_code() || !file.native_order() || !frame.read_header(*header)) return {};
  return frame.is_sorted() ? std::optional(frame) : std::nullopt;
}

bool EhFrame::read_header(const ElfSegment& header) {
  struct Fixed {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
  } fixed;
  const ByteReader& bytes = file_->bytes();
  if (!bytes.read(header.offset, &fixed) || fixed.version != 1) return false;
  if (fixed.count_encoding != kUnsigned4 || fixed.table_encoding != kSigned4FromTable) return false;
  const unsigned pointer = pointer_size(fixed.frame_encoding, file_->is_64_bit());
  uint32_t count = 0;
  if (pointer == 0 || !bytes.read(header.offset + sizeof fixed + pointer, &count)) return false;
  base_ = header.address;
  count_ = count;
  table_ = bytes.slice(header.offset + sizeof fixed + pointer + sizeof count, count_ * 2 * sizeof(int32_t));
  return count_ > 0 && !table_.empty();
}

uint64_t EhFrame::field(uint64_t index) const {
  int32_t distance = 0;
  memcpy(&distance, table_.data() + index * sizeof distance, sizeof distance);
  return base_ + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

bool EhFrame::is_sorted() const {
  for (uint64_t i = 1; i < count_; i++) {
    if (start(i) <= start(i - 1)) return false;
  }
  return true;
}

EhFrame::Range EhFrame::find(uint64_t address) {
  uint64_t low = 0;
  uint64_t high = count_;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    if (start(middle) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const uint64_t next = low < count_ ? start(low) : UINT64_MAX;
  if (low == 0) return {{0, next}, false};
  const uint64_t finish = end(low - 1);
  if (address < finish)  // so its entry has been read
    return {{start(low - 1), finish}, true, known_common_ && known_common_->is_trampoline};
  return {{finish, next}, false};
}

uint64_t EhFrame::end(uint64_t entry) {
  const uint64_t begin = start(entry);
  const uint64_t next = entry + 1 < count_ ? start(entry + 1) : UINT64_MAX;
  return begin + std::min(length(entry), next - begin);
}

uint64_t EhFrame::length(uint64_t entry) {
  const auto offset = file_->offset(ObjectAddress{field(entry * 2 + 1)});
  const ByteReader& bytes = file_->bytes();
  uint32_t header[2];  // length, distance back to the CIE; the 64-bit form is not used in .eh_frame
  if (!offset || !bytes.read(offset->value, &header) || header[0] == UINT32_MAX) return 0;
  const uint64_t cie_field = offset->value + 4;
  if (header[1] == 0 || header[1] > cie_field) return 0;
  const auto cie = common(cie_field - header[1]);
  if (!cie) return 0;
  const unsigned size = pointer_size(cie->pointer_encoding, file_->is_64_bit());
  const uint64_t place = offset->value + 8 + size;  // behind the start of the function
  uint32_t length_4 = 0;
  uint64_t length_8 = 0;
  if (size == 4 && bytes.read(place, &length_4)) return length_4;
  if (size == 8 && bytes.read(place, &length_8)) return length_8;
  return 0;
}

std::optional<EhFrame::Common> EhFrame::common(uint64_t cie_offset) {
  if (known_cie_ == cie_offset) return known_common_;
  known_cie_ = cie_offset;
  known_common_.reset();
  Cursor cursor(file_->bytes(), cie_offset);
  cursor.skip(8);  // length, id
  const uint8_t version = cursor.byte();
  const Augmentation augmentation = read_augmentation(&cursor);
  cursor.skip_leb();  // code alignment
  cursor.skip_leb();  // data alignment
  version == 1 ? cursor.skip(1) : cursor.skip_leb();
  Common result;
  if (augmentation.letters[0] == 'z') {
    cursor.skip_leb();
    result.pointer_encoding = encoding_of(augmentation, &cursor, file_->is_64_bit());
    result.is_trampoline = strchr(augmentation.letters, 'S') != nullptr;
  }
  if (cursor.good()) known_common_ = result;
  return known_common_;
}

}  // namespace pctally
