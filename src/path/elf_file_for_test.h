// Executable files made up by a test, byte by byte: what no compiler writes. Positions are addresses. For
// tests only.
#pragma once
#include <elf.h>
#include <gtest/gtest.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/kernel/device_number.h"
#include "path/object_frames.h"

namespace pctally {

/// Without a build id. `path` outlives it.
inline ObjectIdentity identity_at(const std::string& path) {
  struct stat status;
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  ObjectIdentity identity{};
  identity.kind = ObjectKind::kFile;
  identity.path = path;
  identity.device = device_number(status.st_dev);
  identity.inode = status.st_ino;
  return identity;
}

/// Its one segment is the whole file.
class ElfFile {
 public:
  static constexpr uint64_t kTables = 0x1000;  ///< where .eh_frame begins

  ElfFile() : bytes_(kTables) {}
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;
  ~ElfFile() { std::filesystem::remove(path_); }

  template <class Value>
  void put(uint64_t at, const Value& value) {
    put(at, &value, sizeof value);
  }
  void put(uint64_t at, const void* data, size_t bytes) {
    if (bytes_.size() < at + bytes) bytes_.resize(at + bytes);
    memcpy(bytes_.data() + at, data, bytes);
  }
  [[nodiscard]] uint64_t size() const { return bytes_.size(); }

  /// Before all others, so that positions do not ascend with addresses.
  void put_segments_out_of_order() { loads_.insert(loads_.begin(), {uint64_t{1} << 40, 16}); }

  /// An entry of .eh_frame, with its length and the distance to its CIE, or 0 for a CIE. Where it lies.
  uint64_t put_entry(uint32_t to_cie, std::vector<unsigned char> rest) {
    while (rest.size() % 4 != 0) rest.push_back(0);
    const uint64_t at = bytes_.size();
    put(at, static_cast<uint32_t>(rest.size() + sizeof to_cie));
    put(at + 4, to_cie);
    put(at + 8, rest.data(), rest.size());
    return at;
  }

  /// Augmentation `letters` with their `data`, and instructions behind those of all functions.
  uint64_t put_cie(const std::string& letters, std::vector<unsigned char> data,
                   const std::vector<unsigned char>& instructions = {}) {
    std::vector<unsigned char> rest = {1};
    rest.insert(rest.end(), letters.begin(), letters.end());
    rest.insert(rest.end(), {0, 1, 0x78, 16, static_cast<unsigned char>(data.size())});
    rest.insert(rest.end(), data.begin(), data.end());
    rest.insert(rest.end(), {0x0c, 7, 8, 0x90, 1});  // CFA = rsp + 8; the return address lies at CFA - 8
    rest.insert(rest.end(), instructions.begin(), instructions.end());
    return put_entry(0, rest);
  }

  uint64_t put_fde(uint64_t cie, uint64_t start, uint32_t bytes,
                   const std::vector<unsigned char>& instructions = {}) {
    const uint64_t at = bytes_.size();
    std::vector<unsigned char> rest(9);
    const auto distance = static_cast<int32_t>(start - (at + 8));
    memcpy(rest.data(), &distance, sizeof distance);
    memcpy(rest.data() + 4, &bytes, sizeof bytes);
    rest.insert(rest.end(), instructions.begin(), instructions.end());
    return put_entry(static_cast<uint32_t>(at + 4 - cie), rest);
  }

  /// The note of a build id, at the end: behind what the first page has.
  void put_build_id(const std::vector<unsigned char>& id) {
    const uint64_t at = note_ = bytes_.size();
    put(at, Elf64_Nhdr{4, static_cast<Elf64_Word>(id.size()), NT_GNU_BUILD_ID});
    put(at + sizeof(Elf64_Nhdr), "GNU", 4);
    put(at + sizeof(Elf64_Nhdr) + 4, id.data(), id.size());
    note_bytes_ = bytes_.size() - at;
  }

  struct Entry {
    uint64_t function, fde;
  };
  /// .eh_frame_hdr at the end, of an .eh_frame that starts at kTables.
  void put_header(const std::vector<Entry>& entries) {
    const uint64_t at = header_ = bytes_.size();
    put(at, uint32_t{0x3b031b01});
    put(at + 4, static_cast<int32_t>(kTables - at - 4));
    put(at + 8, static_cast<uint32_t>(entries.size()));
    std::vector<int32_t> rows;
    for (const Entry& entry : entries) {
      rows.push_back(static_cast<int32_t>(entry.function - at));
      rows.push_back(static_cast<int32_t>(entry.fde - at));
    }
    put(at + 12, rows.data(), rows.size() * sizeof(int32_t));
    header_bytes_ = bytes_.size() - at;
  }

  /// A section of the bytes from `start` to the end so far.
  void add_section(const std::string& name, uint64_t start) {
    Elf64_Shdr section{};
    section.sh_name = static_cast<Elf64_Word>(names_.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_addr = section.sh_offset = start;
    section.sh_size = bytes_.size() - start;
    names_ += name + '\0';
    sections_.push_back(section);
  }

  /// Writes the file, `hole` bytes longer than what was put. The same of it is at its end.
  ObjectIdentity write(uint64_t hole = 0) {
    const uint64_t names = bytes_.size();
    put(names, names_.data(), names_.size());
    add_section(".shstrtab", names);
    put(names, names_.data(), names_.size());
    sections_.back().sh_size = names_.size();
    const uint64_t sections = (bytes_.size() + 7) & ~uint64_t{7};
    put(sections, sections_.data(), sections_.size() * sizeof sections_[0]);
    Elf64_Ehdr header{};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shoff = sections;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(sections_.size() - 1);
    loads_.push_back({0, bytes_.size() + hole});
    for (const Load& load : loads_)
      put_segment(&header, {PT_LOAD, PF_R | PF_X, 0, load.address, 0, load.bytes, load.bytes, 0});
    if (header_ != 0)
      put_segment(&header,
                  {PT_GNU_EH_FRAME, PF_R, header_, header_, header_, header_bytes_, header_bytes_, 0});
    if (note_ != 0) put_segment(&header, {PT_NOTE, PF_R, note_, note_, note_, note_bytes_, note_bytes_, 4});
    put(0, header);
    std::ofstream(path_, std::ios::binary).write(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    std::filesystem::resize_file(path_, bytes_.size() + hole);
    return identity_at(path_);
  }

 private:
  struct Load {
    uint64_t address, bytes;
  };

  void put_segment(Elf64_Ehdr* header, const Elf64_Phdr& segment) {
    put(header->e_phoff + header->e_phnum++ * sizeof segment, segment);
  }

  static inline int made_ = 0;
  const std::string path_ =
      testing::TempDir() + "made_up." + std::to_string(getpid()) + "." + std::to_string(made_++);
  std::vector<char> bytes_;
  std::vector<Load> loads_;
  std::vector<Elf64_Shdr> sections_;
  std::string names_;
  uint64_t header_ = 0, header_bytes_ = 0, note_ = 0, note_bytes_ = 0;
};

}  // namespace pctally
