#include "process/build_id.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <vector>

namespace pctally {
namespace {

const std::vector<char> kId(20, 7);

/// An object of one segment, which holds a note of kId.
struct File {
  std::vector<char> bytes;
  unsigned reads = 0;

  template <class Value>
  void put(uint64_t at, const Value& value) {
    if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
    memcpy(bytes.data() + at, &value, sizeof value);
  }

  template <class Header, class Segment>
  File& write(unsigned char of_class, uint64_t segments, uint64_t notes) {
    Header header{};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = of_class;
    header.e_phoff = static_cast<decltype(header.e_phoff)>(segments);
    header.e_phentsize = sizeof(Segment);
    header.e_phnum = 1;
    Segment segment{};
    segment.p_type = PT_NOTE;
    segment.p_offset = static_cast<decltype(segment.p_offset)>(notes);
    segment.p_filesz = static_cast<decltype(segment.p_filesz)>(sizeof(Elf64_Nhdr) + 4 + kId.size());
    put(0, header);
    put(segments, segment);
    put(notes, Elf64_Nhdr{4, static_cast<Elf64_Word>(kId.size()), NT_GNU_BUILD_ID});
    put(notes + sizeof(Elf64_Nhdr), std::to_array("GNU"));
    for (size_t i = 0; i < kId.size(); ++i) put(notes + sizeof(Elf64_Nhdr) + 4 + i, kId[i]);
    return *this;
  }
  File& write64(uint64_t segments, uint64_t notes) {
    return write<Elf64_Ehdr, Elf64_Phdr>(ELFCLASS64, segments, notes);
  }
  File& write32(uint64_t segments, uint64_t notes) {
    return write<Elf32_Ehdr, Elf32_Phdr>(ELFCLASS32, segments, notes);
  }

  std::vector<char> id() {
    const auto read = [](void* of, uint64_t offset, void* to, size_t most) -> ssize_t {
      auto* file = static_cast<File*>(of);
      ++file->reads;
      if (offset > file->bytes.size()) return -1;
      const size_t got = std::min(most, file->bytes.size() - static_cast<size_t>(offset));
      memcpy(to, file->bytes.data() + offset, got);
      return static_cast<ssize_t>(got);
    };
    uint8_t id[kBuildIdBytes];
    const uint32_t length = read_build_id(read, this, id);
    return {id, id + length};
  }
};

TEST(BuildId, OfBothClassesIsFoundInTheFirstPart) {
  File wide, narrow;
  EXPECT_EQ(wide.write64(64, 0x200).id(), kId);
  EXPECT_EQ(narrow.write32(52, 0x200).id(), kId);
  EXPECT_EQ(wide.reads, 1u);
  EXPECT_EQ(narrow.reads, 1u);
}

/// As patchelf leaves it.
TEST(BuildId, BehindTheFirstPartIsFound) {
  EXPECT_EQ(File{}.write64(64, 0x5000).id(), kId);
  EXPECT_EQ(File{}.write64(0x5100, 0x5000).id(), kId);
  EXPECT_EQ(File{}.write64(0x5100, kElfPartBytes - 8).id(), kId) << "half in it";
  EXPECT_EQ(File{}.write32(0x5100, 0x5000).id(), kId);
}

TEST(BuildId, BehindALongNoteIsFound) {
  File file;
  file.write64(64, 0x5000);
  const uint64_t length = sizeof(Elf64_Nhdr) + 4 + 5000, id = 0x8000 + length;
  file.put(0x8000, Elf64_Nhdr{4, 5000, NT_GNU_PROPERTY_TYPE_0});
  file.put(id, Elf64_Nhdr{4, static_cast<Elf64_Word>(kId.size()), NT_GNU_BUILD_ID});
  file.put(id + sizeof(Elf64_Nhdr), std::to_array("GNU"));
  for (size_t i = 0; i < kId.size(); ++i) file.put(id + sizeof(Elf64_Nhdr) + 4 + i, kId[i]);
  file.put(64 + offsetof(Elf64_Phdr, p_offset), uint64_t{0x8000});
  file.put(64 + offsetof(Elf64_Phdr, p_filesz), uint64_t{length + 36});
  EXPECT_EQ(file.id(), kId);
}

TEST(BuildId, OfWhatIsNoObjectOrEndsEarlyIsNone) {
  EXPECT_EQ(File{}.id(), std::vector<char>{});
  File text, shorter, hostile;
  text.bytes.assign(100, 'x');
  EXPECT_EQ(text.id(), std::vector<char>{});
  shorter.write64(64, 0x5000).bytes.resize(0x5000 + 20);
  EXPECT_EQ(shorter.id(), std::vector<char>{});
  hostile.write64(64, 0x5000).put(offsetof(Elf64_Ehdr, e_phoff), ~uint64_t{0} - 8);
  EXPECT_EQ(hostile.id(), std::vector<char>{});
  hostile.write64(64, 0x5000).put(0x5000 + offsetof(Elf64_Nhdr, n_descsz), ~uint32_t{0});
  EXPECT_EQ(hostile.id(), std::vector<char>{});
}

}  // namespace
}  // namespace pctally
