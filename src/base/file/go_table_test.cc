#include "base/file/go_table.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <tuple>
#include <vector>

namespace pctally {
namespace {

constexpr uint64_t kText = 0x401000;

/// The table of main.a at 0x401000, main.b at 0x401040 and main.c, which ends at 0x401100. main.b has 24
/// bytes on the stack between 0x401044 and 0x401070; nothing calls main.c.
struct Table {
  std::vector<unsigned char> bytes;
  template <class Value>
  void put(size_t at, const Value& value) {
    if (bytes.size() < at + sizeof value) bytes.resize(at + sizeof value);
    memcpy(bytes.data() + at, &value, sizeof value);
  }
  explicit Table(uint64_t text = kText, uint32_t magic = 0xfffffff0) {
    constexpr size_t kNames = 72, kRuns = 96, kFunctions = 112, kPlaces = 28, kPlaceBytes = 44;
    const uint64_t header[] = {3, 0, text, kNames, 0, 0, kRuns, kFunctions};
    put(0, magic);
    put(4, uint32_t{0x08010000});
    put(8, header);
    put(kNames, "main.a\0main.b\0main.c");
    const unsigned char run[] = {0, 2, 4, 48, 44, 47, 16, 0};  // +1: 0 for 4 bytes; +24 for 44; -24 for 16
    put(kRuns, run);
    const uint32_t starts[] = {0, 0x40, 0x80, 0x100};
    for (uint32_t i = 0; i < 4; ++i) put(kFunctions + i * 8, starts[i]);
    for (uint32_t i = 0; i < 3; ++i) {
      const uint32_t place = kPlaces + i * kPlaceBytes;
      put(kFunctions + i * 8 + 4, place);
      put(kFunctions + place, starts[i]);
      put(kFunctions + place + 4, i * 7);
      put(kFunctions + place + 16, uint32_t{i == 1});
      put(kFunctions + place + (magic == 0xfffffff0 ? 37 : 41), static_cast<uint8_t>(i == 2));
    }
    put(kFunctions + kPlaces + 3 * kPlaceBytes, uint32_t{});
  }
};

TEST(GoTable, NameAndRange) {
  const Table table;
  const auto functions = GoTable::parse(table.bytes, 0);
  ASSERT_TRUE(functions);
  for (const auto& [address, name, start, end] : {std::tuple(0x401000, "main.a", 0x401000, 0x401040),
                                                  std::tuple(0x40103f, "main.a", 0x401000, 0x401040),
                                                  std::tuple(0x401040, "main.b", 0x401040, 0x401080),
                                                  std::tuple(0x4010ff, "main.c", 0x401080, 0x401100)}) {
    const auto found = functions->find(static_cast<uint64_t>(address));
    ASSERT_TRUE(found) << address;
    EXPECT_EQ(functions->name(*found), name);
    EXPECT_EQ(functions->start(*found), static_cast<uint64_t>(start));
    EXPECT_EQ(functions->end(*found), static_cast<uint64_t>(end));
  }
  EXPECT_FALSE(functions->find(0x400fff));
  EXPECT_FALSE(functions->find(0x401100));
}

TEST(GoTable, WhereTheTextStartsMayBeTheLinkersToSay) {
  const Table table(0, 0xfffffff1);
  EXPECT_FALSE(GoTable::parse(table.bytes, 0));
  const auto functions = GoTable::parse(table.bytes, 0x7000);
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->find(0x7041), 1u);
}

/// As in a program that may lie anywhere: among other constants, and with a relocation.
TEST(GoTable, InASectionOfOtherThings) {
  constexpr uint64_t kSection = 0x9000, kOffset = 64, kTextOffset = 24;
  const Table table(0);
  std::vector<unsigned char> section(kOffset);
  section.insert(section.end(), table.bytes.begin(), table.bytes.end());
  const Elf64_Rela relocations[] = {
      {0x1000, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x5000},
      {kSection + kOffset + kTextOffset, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x7000}};
  const auto* bytes = reinterpret_cast<const unsigned char*>(relocations);
  const auto functions = GoTable::in_section(section, kSection, {bytes, sizeof relocations});
  ASSERT_TRUE(functions);
  EXPECT_EQ(functions->find(0x7041), 1u);
  EXPECT_FALSE(GoTable::in_section(section, kSection, {bytes, sizeof relocations[0]}));
}

using Run = std::tuple<uint64_t, uint64_t, int32_t>;

/// What a function has on the stack, where.
std::vector<Run> stack_of(const GoTable& functions, uint64_t number) {
  std::vector<Run> found;
  functions.visit_stack(
      number, [&found](uint64_t from, uint64_t to, int32_t bytes) { found.emplace_back(from, to, bytes); });
  return found;
}

const std::vector<Run> kStackOfB = {
    {0x401040, 0x401044, 0}, {0x401044, 0x401070, 24}, {0x401070, 0x401080, 0}};

TEST(GoTable, WhatAFunctionHasOnTheStack) {
  for (const uint32_t magic : {0xfffffff0u, 0xfffffff1u}) {
    const Table table(kText, magic);
    const auto functions = GoTable::parse(table.bytes, 0);
    ASSERT_TRUE(functions);
    EXPECT_EQ(stack_of(*functions, 1), kStackOfB);
    EXPECT_TRUE(stack_of(*functions, 0).empty()) << "nothing is known of it";
    EXPECT_FALSE(functions->is_outermost(1));
    EXPECT_TRUE(functions->is_outermost(2));
  }
}

/// As on aarch64.
TEST(GoTable, RunsAreCountedInInstructions) {
  Table table;
  table.put(6, uint8_t{4});
  table.put(96, std::array<unsigned char, 8>{0, 2, 1, 48, 11, 47, 4, 0});
  const auto functions = GoTable::parse(table.bytes, 0);
  ASSERT_TRUE(functions);
  EXPECT_EQ(stack_of(*functions, 1), kStackOfB);
  table.put(96 + 6, uint8_t{5});  // beyond the function's end
  EXPECT_EQ(stack_of(*functions, 1).size(), 2u);
  table.put(6, uint8_t{2});
  EXPECT_FALSE(GoTable::parse(table.bytes, 0)) << "of another machine";
}

/// Each takes no time of its own, but 64 MiB of them do.
TEST(GoTable, WhatNoCompilerWritesEndsWhatIsKnownOfTheStack) {
  Table table;
  const unsigned char empty[] = {2, 4, 2, 0, 2, 4, 0};  // the second for no byte of code
  table.put(97, empty);
  int runs = 0;
  const auto count = [&runs](uint64_t, uint64_t, int32_t) { ++runs; };
  GoTable::parse(table.bytes, 0)->visit_stack(1, count);
  EXPECT_EQ(runs, 1);
  table.put(112 + 2 * 8, uint32_t{0x100000});  // where main.b ends
  table.put(112 + 3 * 8, uint32_t{0x100001});
  table.put(112 + 16 + 28 + 44, uint32_t{0x1000});  // its run
  table.put(96 + 0x1000, uint8_t{2});
  table.bytes.resize(1 << 20, 1);
  runs = 0;
  GoTable::parse(table.bytes, 0)->visit_stack(1, count);
  EXPECT_EQ(runs, 1 << 15);
}

TEST(GoTable, AnotherVersionIsNotGuessed) {
  for (const uint32_t magic : {0xfffffffbu, 0xfffffffau, 0xfffffff2u, 0x464c457fu})
    EXPECT_FALSE(GoTable::parse(Table(kText, magic).bytes, 0));
}

TEST(GoTable, OneThatIsNotSortedIsRefused) {
  Table table;
  table.put(112 + 8, uint32_t{0x90});
  EXPECT_FALSE(GoTable::parse(table.bytes, 0));
}

/// Each byte has each of a few values, and the table each length: what is found lies in the table.
TEST(GoTable, ADamagedTableIsReadWithinItsBounds) {
  const Table whole;
  for (size_t at = 0; at < whole.bytes.size(); ++at) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::vector<unsigned char> bytes = whole.bytes;
      bytes[at] = static_cast<unsigned char>(value);
      const auto functions = GoTable::parse(bytes, 0);
      for (uint64_t address = kText; functions && address < kText + 0x100; address += 0x20) {
        const auto found = functions->find(address);
        if (!found) continue;
        EXPECT_LE(functions->name(*found).size(), bytes.size());
        functions->visit_stack(*found, [&](uint64_t from, uint64_t to, int32_t) {
          EXPECT_LE(from, to);
          EXPECT_LE(to, functions->end(*found));
        });
      }
    }
    const std::vector<unsigned char> cut(whole.bytes.begin(),
                                         whole.bytes.begin() + static_cast<ptrdiff_t>(at));
    if (const auto functions = GoTable::parse(cut, 0)) (void)functions->find(kText + 0x41);
  }
}

}  // namespace
}  // namespace pctally
