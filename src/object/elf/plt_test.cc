#include "object/elf/plt.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <string.h>

#include <set>

#include "object/elf/text_map.h"
#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

std::set<std::string> stub_names(const std::string& path) {
  std::set<std::string> names;
  const auto file = open_elf(path);
  TextMap map(*file, nullptr, "object");
  for (const ElfSection& section : file->text()) {
    if (!Plt::is_stub_section(section)) continue;
    for (uint64_t address = section.address; address < section.address + section.size; address += 4) {
      names.insert(map.name({&address, 1}).at(0).function);
    }
  }
  return names;
}

class PltOf : public testing::TestWithParam<const char*> {};

TEST_P(PltOf, StubsHaveTheNamesOfTheirTargets) {
  const std::string path = fixture(GetParam());
  if (!exists(path)) GTEST_SKIP() << "no compiler for " << GetParam();
  EXPECT_THAT(stub_names(path), testing::IsSupersetOf({"puts@plt", "elsewhere@plt", "exported@plt"}));
}

INSTANTIATE_TEST_SUITE_P(Libraries, PltOf,
                         testing::Values("libcalls.so", "libcalls_now.so", "libcalls_cet.so",
                                         "libcalls_aarch64.so", "libcalls_riscv64.so"),
                         [](const auto& name) {
                           const std::string text = name.param;
                           return text.substr(0, text.find('.'));
                         });

/// As linkers wrote them for programs with bounds of pointers (MPX).
TEST(Plt, StubsMayBeginWithBnd) {
  const std::string path = fixture("libcalls_cet.so");
  if (!exists(path)) GTEST_SKIP() << "no compiler for " << path;
  const auto file = open_elf(path);
  const ElfSection* section = file->section(".plt.sec");
  if (section == nullptr || file->machine() != EM_X86_64) GTEST_SKIP() << "no such stubs here";
  std::string bytes = read_file(path);
  for (uint64_t stub = section->offset; stub < section->offset + section->size; stub += 16) {
    int32_t distance = 0;
    memcpy(&distance, &bytes[stub + 6], sizeof distance);
    --distance;
    bytes.replace(stub + 4, 3, "\xf2\xff\x25");
    memcpy(&bytes[stub + 7], &distance, sizeof distance);
    bytes.replace(stub + 11, 5, "\x0f\x1f\x44\x00\x00", 5);
  }
  TemporaryDirectory directory;
  write_file(directory / "bnd.so", bytes);
  EXPECT_THAT(stub_names(directory / "bnd.so"),
              testing::IsSupersetOf({"puts@plt", "elsewhere@plt", "exported@plt"}));
}

TEST(Plt, AgreesWithObjdump) {
  const std::string path = fixture("libcalls.so");
  const auto file = open_elf(path);
  TextMap map(*file, nullptr, "object");
  size_t compared = 0;
  for (const std::string& line : output_of("objdump -d " + path)) {
    unsigned long long address = 0;
    char name[256];
    if (sscanf(line.c_str(), "%llx <%255[^>]>:", &address, name) != 2) continue;
    const std::string expected = name;
    if (!expected.ends_with("@plt") || expected.starts_with("*ABS*")) continue;
    const uint64_t wanted = address;
    EXPECT_EQ(map.name({&wanted, 1}).at(0).function, expected);
    compared++;
  }
  if (compared == 0) GTEST_SKIP() << "objdump names no stubs here";
  EXPECT_GE(compared, 3u);
}

TEST(Plt, TheResolversEntryIsNobodys) {
  const auto file = open_elf(fixture("libcalls.so"));
  const ElfSection* section = file->section(".plt");
  ASSERT_NE(section, nullptr);
  TextMap map(*file, nullptr, "object");
  EXPECT_EQ(map.name({&section->address, 1}).at(0).function, label("object", section->address));
}

}  // namespace
}  // namespace pctally
