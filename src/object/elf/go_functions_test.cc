#include "object/elf/go_functions.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace pctally {
namespace {

constexpr uint64_t kText = 0x401000;

/// The table of main.a at 0x401000, main.b at 0x401040 and main.c, which ends at 0x401100.
struct Table {
  std::vector<unsigned char> bytes;
  template <class Value>
  void put(size_t at, const Value& value) {
    if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
    memcpy(bytes.data() + at, &value, sizeof value);
  }
  explicit Table(uint64_t text = kText, uint32_t magic = 0xfffffff0) {
    constexpr size_t kNames = 72, kFunctions = 96, kPlaces = 28;
    const uint64_t header[] = {3, 0, text, kNames, 0, 0, 0, kFunctions};
    put(0, magic);
    put(4, uint32_t{0x08010000});
    put(8, header);
    put(kNames, "main.a\0main.b\0main.c");
    const uint32_t starts[] = {0, 0x40, 0x80, 0x100};
    for (uint32_t i = 0; i < 4; ++i) put(kFunctions + i * 8, starts[i]);
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t place = kPlaces + i * 8;
      put(kFunctions + i * 8 + 4, place);
      put(kFunctions + place, starts[i]);
      put(kFunctions + place + 4, i * 7);
    }
  }
};

TEST(GoFunctions, NameAndRange) {
  const Table table;
  const auto functions = GoFunctions::parse(table.bytes, 0);
  ASSERT_TRUE(functions);
  for (const auto& [address, name, start, end] : {std::tuple(0x401000, "main.a", 0x401000, 0x401040),
                                                  std::tuple(0x40103f, "main.a", 0x401000, 0x401040),
                                                  std::tuple(0x401040, "main.b", 0x401040, 0x401080),
                                                  std::tuple(0x4010ff, "main.c", 0x401080, 0x401100)}) {
    const auto found = functions->find(static_cast<uint64_t>(address));
    ASSERT_TRUE(found) << address;
    EXPECT_EQ(found->name, name);
    EXPECT_EQ(found->range.start, static_cast<uint64_t>(start));
    EXPECT_EQ(found->range.end, static_cast<uint64_t>(end));
  }
  EXPECT_FALSE(functions->find(0x400fff));
  EXPECT_FALSE(functions->find(0x401100));
}

TEST(GoFunctions, WhereTheTextStartsMayBeTheLinkersToSay) {
  const Table table(0, 0xfffffff1);
  EXPECT_FALSE(GoFunctions::parse(table.bytes, 0));
  const auto functions = GoFunctions::parse(table.bytes, 0x7000);
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->find(0x7041)->name, "main.b");
}

TEST(GoFunctions, AnotherVersionIsNotGuessed) {
  for (const uint32_t magic : {0xfffffffbu, 0xfffffffau, 0xfffffff2u, 0x464c457fu})
    EXPECT_FALSE(GoFunctions::parse(Table(kText, magic).bytes, 0));
}

TEST(GoFunctions, OneThatIsNotSortedIsRefused) {
  Table table;
  table.put(96 + 8, uint32_t{0x90});
  EXPECT_FALSE(GoFunctions::parse(table.bytes, 0));
}

/// Each byte has each of a few values, and the table each length: what is found lies in the table.
TEST(GoFunctions, ADamagedTableIsReadWithinItsBounds) {
  const Table whole;
  for (size_t at = 0; at < whole.bytes.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::vector<unsigned char> bytes = whole.bytes;
      bytes[at] = static_cast<unsigned char>(value);
      const auto functions = GoFunctions::parse(bytes, 0);
      for (uint64_t address = kText; functions && address < kText + 0x100; address += 0x20) {
        const auto found = functions->find(address);
        EXPECT_LE(found ? found->name.size() : 0, bytes.size());
      }
    }
    const std::vector<unsigned char> cut(whole.bytes.begin(),
                                         whole.bytes.begin() + static_cast<ptrdiff_t>(at));
    if (const auto functions = GoFunctions::parse(cut, 0)) (void)functions->find(kText + 0x41);
  }
}

}  // namespace
}  // namespace pctally
