#include "process/build_id.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

namespace pctally {
namespace {

constexpr unsigned kMostSegments = 64, kMostNotes = 64;

/// The first part of a file in memory, the others as they are asked for.
class ElfParts {
 public:
  ElfParts(ReadElf read_file, void* file) noexcept : read_(read_file), file_(file) {
    const ssize_t bytes = read_file(file, 0, first_, sizeof first_);
    held_ = bytes < 0 ? 0 : static_cast<size_t>(bytes);
  }

  /// At most kElfPartBytes. The number read.
  size_t read(uint64_t offset, void* to, size_t bytes) noexcept {
    if (offset <= held_ && bytes <= held_ - offset) return memcpy(to, first_ + offset, bytes), bytes;
    if (held_ < sizeof first_) return 0;  // that was the whole file
    const ssize_t got = read_(file_, offset, to, bytes);
    return got < 0 ? 0 : static_cast<size_t>(got);
  }

 private:
  ReadElf read_;
  void* file_;
  char first_[kElfPartBytes];
  size_t held_ = 0;
};

/// In the notes from `at` to `end`. All classes have notes of one shape.
uint32_t id_in_notes(ElfParts* file, uint64_t at, uint64_t end, uint8_t* id) noexcept {
  const auto aligned = [](uint32_t bytes) { return (uint64_t{bytes} + 3) & ~uint64_t{3}; };
  for (unsigned i = 0; i < kMostNotes && at < end; ++i) {
    struct {
      Elf64_Nhdr header;
      char name[4];
    } note;
    if (end - at < sizeof note || file->read(at, &note, sizeof note) != sizeof note) return 0;
    const uint32_t bytes = note.header.n_descsz;
    const uint64_t text = at + sizeof note.header + aligned(note.header.n_namesz);
    if (note.header.n_type == NT_GNU_BUILD_ID && note.header.n_namesz == 4 &&
        memcmp(note.name, "GNU", 4) == 0 && bytes <= kBuildIdBytes)
      return text + bytes <= end && file->read(text, id, bytes) == bytes ? bytes : 0;
    at = text + aligned(bytes);
  }
  return 0;
}

template <class Header, class Segment>
uint32_t id_of_class(ElfParts* file, uint8_t* id) noexcept {
  Header header;
  if (file->read(0, &header, sizeof header) != sizeof header || header.e_phentsize != sizeof(Segment))
    return 0;
  for (unsigned i = 0; i < header.e_phnum && i < kMostSegments; ++i) {
    Segment segment;
    const uint64_t at = header.e_phoff + uint64_t{i} * sizeof segment;
    if (file->read(at, &segment, sizeof segment) != sizeof segment) return 0;
    if (segment.p_type != PT_NOTE) continue;
    const uint64_t end = uint64_t{segment.p_offset} + segment.p_filesz;
    if (const uint32_t length = id_in_notes(file, segment.p_offset, end, id); length != 0) return length;
  }
  return 0;
}

}  // namespace

uint32_t read_build_id(ReadElf read, void* file, uint8_t* id) noexcept {
  ElfParts parts(read, file);
  unsigned char ident[EI_NIDENT];
  if (parts.read(0, ident, sizeof ident) != sizeof ident || memcmp(ident, ELFMAG, SELFMAG) != 0) return 0;
  if (ident[EI_CLASS] == ELFCLASS64) return id_of_class<Elf64_Ehdr, Elf64_Phdr>(&parts, id);
  return id_of_class<Elf32_Ehdr, Elf32_Phdr>(&parts, id);
}

uint32_t read_build_id(int fd, uint8_t* id) noexcept {
  const auto read = [](void* file, uint64_t offset, void* to, size_t bytes) {
    return pread(*static_cast<const int*>(file), to, bytes, static_cast<off_t>(offset));
  };
  return read_build_id(read, &fd, id);
}

}  // namespace pctally
