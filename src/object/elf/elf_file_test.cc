#include "object/elf/elf_file.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

TEST(ElfFile, RefusesWhatIsNoElfFileWithoutBlocking) {
  TemporaryDirectory directory;
  write_file(directory / "text", "hello");
  write_file(directory / "empty", "");
  ASSERT_EQ(mkfifo((directory / "fifo").c_str(), 0600), 0);
  for (const char* name : {"text", "empty", "fifo", "missing", ""}) {
    EXPECT_FALSE(ElfFile::open(directory / name)) << name;
  }
  EXPECT_FALSE(ElfFile::open("/dev/zero"));
  EXPECT_FALSE(ElfFile::from_image({}));
  EXPECT_FALSE(ElfFile::from_image({0x7f, 'E', 'L', 'F'}));
}

TEST(ElfFile, OffsetsAndAddressesAreInverse) {
  const auto file = open_elf(fixture("layout"));
  for (const ElfSection& section : file->text()) {
    const auto offset = file->offset(ObjectAddress{section.address});
    ASSERT_TRUE(offset);
    EXPECT_EQ(offset->value, section.offset);
    EXPECT_EQ(file->address(*offset), ObjectAddress{section.address});
  }
  EXPECT_FALSE(file->address(FileOffset{file->bytes().size() + 4096}));
  EXPECT_FALSE(file->offset(ObjectAddress{UINT64_MAX}));
}

/// A file of three segments: data from 0 on, text of the same bytes, and data right behind them.
std::vector<unsigned char> three_segments() {
  Elf64_Ehdr head{};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_type = ET_EXEC;
  head.e_machine = EM_X86_64;
  head.e_version = EV_CURRENT;
  head.e_phoff = head.e_ehsize = sizeof head;
  head.e_phentsize = sizeof(Elf64_Phdr);
  head.e_phnum = 3;
  const auto segment = [](uint32_t flags, uint64_t offset, uint64_t address) {
    return Elf64_Phdr{PT_LOAD, flags, offset, address, address, 0x1000, 0x1000, 0x1000};
  };
  const Elf64_Phdr segments[] = {segment(PF_R, 0, 0x10000), segment(PF_R | PF_X, 0, 0x20000),
                                 segment(PF_R, 0x1000, 0x30000)};
  std::vector<unsigned char> bytes(0x2000);
  memcpy(bytes.data(), &head, sizeof head);
  memcpy(bytes.data() + sizeof head, segments, sizeof segments);
  return bytes;
}

TEST(ElfFile, AnOffsetIsOfTheTextThatHasIt) {
  const auto file = ElfFile::from_image(three_segments());
  ASSERT_TRUE(file) << file.error().text;
  EXPECT_EQ(file->address(FileOffset{0xfff}), ObjectAddress{0x20fff});
  EXPECT_EQ(file->address(FileOffset{0x1000}), ObjectAddress{0x30000});
  EXPECT_FALSE(file->address(FileOffset{0x2000}));
}

TEST(ElfFile, BuildIdAsReadelfPrintsIt) {
  const auto lines = output_of("readelf -n " + fixture("layout") + " | grep 'Build ID'");
  ASSERT_EQ(lines.size(), 1u);
  const auto file = open_elf(fixture("layout"));
  EXPECT_EQ(lines[0].substr(lines[0].rfind(' ') + 1), to_hex(file->build_id()));
  EXPECT_TRUE(open_elf(fixture("anonymous"))->build_id().empty());
}

TEST(ElfFile, TextIsTheExecutableSectionsInOrder) {
  const auto file = open_elf(fixture("layout"));
  uint64_t end = 0;
  for (const ElfSection& section : file->text()) {
    EXPECT_NE(section.flags & SHF_EXECINSTR, 0u);
    EXPECT_GE(section.address, end);
    end = section.address + section.size;
  }
  EXPECT_GE(file->text().size(), 2u);
}

TEST(ElfFile, TheLayoutOfADebugFileIsThatOfItsObject) {
  const auto object = open_elf(fixture("inlined"));
  const auto debug = open_elf(fixture("linked.debug"));
  ASSERT_TRUE(debug->restore_layout());
  EXPECT_FALSE(debug->has_code());
  for (const ElfSection& section : object->text()) {
    EXPECT_EQ(debug->address(FileOffset{section.offset}), object->address(FileOffset{section.offset}));
  }
}

TEST(BuildId, OfMalformedNotesIsEmpty) {
  const std::vector<unsigned char> huge{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                        3,    0,    0,    0,    'G',  'N',  'U',  0};
  EXPECT_TRUE(find_build_id(huge, 4).empty());
  EXPECT_TRUE(find_build_id({}, 4).empty());
  EXPECT_EQ(debug_file_name({}), "");
  const unsigned char id[] = {0xab, 0xcd, 0xef};
  EXPECT_EQ(debug_file_name(id), ".build-id/ab/cdef.debug");
}

}  // namespace
}  // namespace pctally
