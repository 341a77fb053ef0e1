// Finds where functions begin and end from the unwind tables, which outlive stripping. It reads the sorted
// table of .eh_frame_hdr in place and refuses one that is not sorted.
#pragma once
#include <optional>

#include "object/elf/elf_file.h"

namespace pctally {

class EhFrame {
 public:
  struct Range {
    AddressRange range;
    bool is_function = false;    ///< false: the gap between two functions
    bool is_trampoline = false;  ///< a signal handler returns to it; its first byte lies before its code
  };

  /// Nothing if the file has no usable table. `file` must outlive the result.
  static std::optional<EhFrame> open(const ElfFile& file);

  /// The function or the gap `address` lies in. Functions and gaps tile the address space.
  [[nodiscard]] Range find(uint64_t address);

 private:
  /// What a common information entry says.
  struct Common {
    unsigned pointer_encoding = 0;
    bool is_trampoline = false;
  };
  explicit EhFrame(const ElfFile& file) : file_(&file) {}
  [[nodiscard]] bool read_header(const ElfSegment& header);
  [[nodiscard]] bool is_sorted() const;
  [[nodiscard]] uint64_t field(uint64_t index) const;
  [[nodiscard]] uint64_t start(uint64_t entry) const { return field(entry * 2); }
  [[nodiscard]] uint64_t end(uint64_t entry);
  [[nodiscard]] uint64_t length(uint64_t entry);
  [[nodiscard]] std::optional<Common> common(uint64_t cie_offset);

  const ElfFile* file_;
  std::span<const unsigned char> table_;
  uint64_t base_ = 0;  ///< address of .eh_frame_hdr, which the table's values are relative to
  uint64_t count_ = 0;
  uint64_t known_cie_ = UINT64_MAX;
  std::optional<Common> known_common_;
};

}  // namespace pctally
