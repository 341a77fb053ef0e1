// An ELF file opened for reading: its segments, sections and identity, and the way between places in the
// file and addresses. It refuses what libelf refuses, and files that are not regular; every size it hands
// out was checked.
#pragma once
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/byte_reader.h"
#include "base/result.h"
#include "object/elf/address.h"
#include "object/elf/build_id.h"
#include "object/elf/regular_file.h"

namespace pctally {

/// A run of addresses [start, end).
struct AddressRange {
  uint64_t start = 0;
  uint64_t end = 0;
  [[nodiscard]] bool contains(uint64_t address) const { return start <= address && address < end; }
  bool operator==(const AddressRange&) const = default;
};

struct ElfSection {
  std::string_view name;
  size_t index = 0;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint64_t entry_size = 0;
  uint32_t link = 0;
  uint32_t info = 0;
};

struct ElfSegment {
  uint32_t type = 0;
  uint32_t flags = 0;
  uint64_t offset = 0;
  uint64_t address = 0;
  uint64_t file_size = 0;
  uint64_t memory_size = 0;
  uint64_t alignment = 0;
};

class ElfFile {
 public:
  /// Opens a regular file, and no other kind: see open_regular(). Keeps no descriptor.
  static Result<ElfFile> open(const std::string& path, Trust trust = Trust::kAnybody);
  /// Takes the bytes of an ELF file that lies in memory.
  static Result<ElfFile> from_image(std::vector<unsigned char> image);

  [[nodiscard]] Elf* handle() const { return elf_.get(); }
  [[nodiscard]] const ByteReader& bytes() const { return bytes_; }
  [[nodiscard]] uint16_t machine() const { return machine_; }
  [[nodiscard]] bool is_64_bit() const { return is_64_bit_; }
  /// False if multi-byte values in the file are not in this machine's byte order.
  [[nodiscard]] bool native_order() const { return native_order_; }
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }
  [[nodiscard]] const ElfSection* section(std::string_view name) const;
  [[nodiscard]] const ElfSegment* segment(uint32_t type) const;
  /// Empty if it has none.
  [[nodiscard]] BuildId build_id() const { return build_id_; }

  /// The section's bytes as they lie in the file; empty if it has none there.
  [[nodiscard]] std::span<const unsigned char> contents(const ElfSection& section) const;
  /// Executable sections in ascending order, disjoint; the executable segments if there are
  /// no section headers.
  [[nodiscard]] const std::vector<ElfSection>& text() const { return text_; }

  /// The address at which a byte of the file is loaded, executable segments first; nothing if it is not.
  [[nodiscard]] std::optional<ObjectAddress> address(FileOffset offset) const;
  [[nodiscard]] std::optional<FileOffset> offset(ObjectAddress address) const;

  /// A file of separated debug information keeps the addresses of its segments but not their places in the
  /// original file. This restores them if the text was laid out in one piece with the start of the file, as
  /// linkers do unless they pack segments; false (and nothing changed) if that is not known.
  bool restore_layout();
  /// False after restore_layout(): the places of the text are known, its bytes are not here.
  [[nodiscard]] bool has_code() const { return has_code_; }
  /// The status of the file opened.
  [[nodiscard]] const struct stat& status() const { return file_.status(); }
  /// True if its section headers, and so its symbols, lie behind its end.
  [[nodiscard]] bool is_cut() const { return is_cut_; }
  /// See FileBytes.
  [[nodiscard]] bool shrank() const { return file_.shrank(); }
  /// As given to open(); empty for an image.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(Elf* elf) const { elf_end(elf); }
  };
  Result<void> read();
  void read_segments(size_t count);
  void read_sections(size_t count, size_t names);
  void find_identity();
  void find_text();

  std::string path_;
  std::vector<unsigned char> image_;
  FileBytes file_;
  std::unique_ptr<Elf, Close> elf_;
  ByteReader bytes_{{}};
  uint16_t machine_ = 0;
  bool is_64_bit_ = false;
  bool native_order_ = false;
  bool has_code_ = true;
  bool is_cut_ = false;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
  std::vector<ElfSection> text_;
  BuildId build_id_;
};

}  // namespace pctally
