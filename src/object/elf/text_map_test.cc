#include "object/elf/text_map.h"

#include <elf.h>
#include <string.h>

#include <algorithm>
#include <numeric>

#include "base/sanitizer.h"
#include "object/dwarf/debug_finder.h"
#include "object/elf/demangle.h"
#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

TEST(TextMap, OfAliasesTheExportedPlainShortOneWins) {
  const auto symbol = listed_symbol(fixture("layout"), "documented");
  const NamedRange range = name_at(fixture("layout"), symbol.value + 1);
  EXPECT_EQ(range.function, "documented");  // not loc, _documented or other_alias
  EXPECT_EQ(range.start, position_of(fixture("layout"), symbol.value));
  EXPECT_EQ(range.end - range.start, symbol.size);
}

TEST(TextMap, TextNobodyNamesIsNotItsNeighbours) {
  const std::string path = fixture("layout");
  const uint64_t gap = listed_symbol(path, "before_gap").value + 8;
  EXPECT_EQ(name_at(path, gap - 1).function, "before_gap");
  const NamedRange range = name_at(path, gap + 5);
  EXPECT_EQ(range.function, label("layout", gap));
  EXPECT_EQ(range.start, position_of(path, gap));
  EXPECT_EQ(range.end - range.start, 24u);
}

TEST(TextMap, ALabelWithoutSizeReachesToTheNextSymbol) {
  const std::string path = fixture("layout");
  const uint64_t start = listed_symbol(path, "bare_label").value;
  const NamedRange range = name_at(path, start + 7);
  EXPECT_EQ(range.function, "bare_label");
  EXPECT_EQ(range.end - range.start, 8u);
  EXPECT_EQ(name_at(path, start + 8).function, "after_gap");
}

// Call paths name a caller by the start of its unwind entry.
TEST(TextMap, TheEntryOfASignalTrampolineHasItsName) {
  const auto symbol = listed_symbol(fixture("layout"), "trampoline");
  EXPECT_EQ(name_at(fixture("layout"), symbol.value - 1).function, "trampoline");
  EXPECT_EQ(name_at(fixture("layout"), symbol.value - 2).function, "after_gap");
  for (const uint64_t address : {symbol.value - 1, symbol.value, symbol.value + 7}) {
    const NamedRange range = name_at(fixture("layout_stripped"), address);
    EXPECT_EQ(range.function, "[signal trampoline]");
    EXPECT_EQ(range.end - range.start, 1 + symbol.size);
  }
}

TEST(TextMap, AFunctionWithinAFunctionNamesItsOwnText) {
  const std::string path = fixture("layout");
  const uint64_t start = listed_symbol(path, "outer_function").value;
  EXPECT_EQ(name_at(path, start + 15).function, "outer_function");
  EXPECT_EQ(name_at(path, start + 16).function, "inner_function");
  const NamedRange tail = name_at(path, start + 32);
  EXPECT_EQ(tail.function, "outer_function");
  EXPECT_EQ(tail.start, position_of(path, start)) << "one function, one start";
  EXPECT_EQ(tail.end, position_of(path, start) + 48);
}

/// Files can have as many of them as they like, each the tail of another.
TEST(TextMap, EndlessNamesAreReadUpToTheCap) {
  TemporaryDirectory directory;
  const std::string path = directory / "named", name = "_Z3abc" + std::string(20000, 'i');
  output_of("objcopy --redefine-sym main=" + name + " " + fixture("layout") + " " + path);
  const auto file = open_elf(path);
  const ElfSection* section = file->section(".symtab");
  ASSERT_NE(section, nullptr);
  const auto table = SymbolTable::open(*file, *section);
  ASSERT_TRUE(table);
  std::string longest;
  for (size_t i = 0; i < table->size(); i++)
    if (table->name(i).size() > longest.size()) longest = table->name(i);
  EXPECT_EQ(longest, name.substr(0, kLongestName + 1));
  const uint64_t main = listed_symbol(fixture("layout"), "main").value;
  EXPECT_EQ(name_at(path, main).function, name.substr(0, kLongestName)) << "what is cut is not demangled";
}

/// As the static table of a library has its versioned functions.
TEST(TextMap, AliasesAreCalledWithoutTheirVersion) {
  TemporaryDirectory directory;
  const std::string path = directory / "versioned";
  output_of("objcopy --redefine-sym main=main@@V_1 " + fixture("layout") + " " + path);
  const uint64_t main = position_of(path, listed_symbol(fixture("layout"), "main").value);
  const auto aliases = Symbolizer::open(identity_of(path))->aliases({&main, 1}).at(0);
  ASSERT_EQ(aliases.size(), 1u);
  EXPECT_EQ(aliases[0].function, "main");
  EXPECT_EQ(aliases[0].linkage, "main@@V_1");
}

/// Such as say where code begins on ARM and RISC-V.
TEST(TextMap, MappingSymbolsNameNothing) {
  TemporaryDirectory directory;
  const std::string path = directory / "mapped";
  output_of("objcopy --redefine-sym 'bare_label=$x' " + fixture("layout") + " " + path);
  const uint64_t label = listed_symbol(fixture("layout"), "bare_label").value;
  ASSERT_EQ(listed_symbol(path, "$x").value, label);
  EXPECT_EQ(name_at(path, label).function[0], '[');
}

TEST(TextMap, TextBetweenTwoSectionsStartsBehindTheFirst) {
  const std::string path = fixture("layout");
  const auto file = open_elf(path);
  const ElfSection* section = file->section(".init");
  ASSERT_NE(section, nullptr);
  const uint64_t end = section->address + section->size;
  const NamedRange range = name_at(path, end + 1);
  EXPECT_EQ(range.function, label("layout", end));
  EXPECT_EQ(range.start, position_of(path, end));
}

/// What a damaged table, or one of a linker script, says of its size goes on into the next section.
TEST(TextMap, ASymbolEndsWithItsSection) {
  TemporaryDirectory directory;
  const std::string whole = fixture("layout"), path = directory / "long";
  const auto file = open_elf(whole);
  const ElfSection *table = file->section(".symtab"), *next = file->section(".fini");
  ASSERT_TRUE(table != nullptr && next != nullptr);
  const uint64_t main = listed_symbol(whole, "main").value;
  std::string bytes = read_file(whole);
  for (uint64_t at = table->offset; at < table->offset + table->size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    memcpy(&symbol, &bytes[at], sizeof symbol);
    if (symbol.st_value != main) continue;
    symbol.st_size = 0x100000;
    memcpy(&bytes[at], &symbol, sizeof symbol);
  }
  write_file(path, bytes);
  EXPECT_EQ(name_at(path, main).function, "main");
  EXPECT_NE(name_at(path, next->address + 4).function, "main");
}

TEST(TextMap, OfNamesWithManyUnderscoresTheShorterWins) {
  const Symbol symbol{0, 1, true, true};
  EXPECT_TRUE(names_better(symbol, "b", symbol, "aa"));
  const std::string many = std::string(3000, '_') + "b",
                    fewer = std::string(100, '_') + std::string(9000, 'a');
  EXPECT_TRUE(names_better(symbol, many, symbol, fewer));
}

TEST(TextMap, StrippedTextHasTheBoundsOfItsFunctions) {
  const auto symbol = listed_symbol(fixture("layout"), "main");
  const NamedRange range = name_at(fixture("layout_stripped"), symbol.value + 2);
  EXPECT_EQ(range.function, label("layout_stripped", symbol.value));
  EXPECT_EQ(range.end - range.start, symbol.size);
  const auto gap = listed_symbol(fixture("layout"), "before_gap");
  EXPECT_NE(name_at(fixture("layout_stripped"), gap.value).function, range.function);
}

/// What readelf says of each byte of a section: where the innermost sized function there starts, if any.
class Painted {
 public:
  Painted(const std::vector<ListedSymbol>& symbols, const ElfSection& section)
      : start_(section.address), functions_(section.size, 0) {
    for (const ListedSymbol& symbol : symbols) {
      if (symbol.type != "FUNC" && symbol.type != "IFUNC" && symbol.type != "NOTYPE") continue;
      if (symbol.section == "UND" || symbol.section == "ABS" || symbol.name.empty()) continue;
      if (symbol.value < start_ || symbol.value - start_ >= section.size) continue;
      (symbol.size == 0 ? labels_ : starts_).emplace(symbol.value, symbol.name);
      const uint64_t end = std::min(symbol.value - start_ + symbol.size, section.size);
      for (uint64_t i = symbol.value - start_; i < end; i++)
        functions_[i] = std::max(functions_[i], symbol.value);
    }
  }
  [[nodiscard]] uint64_t function_at(uint64_t address) const { return functions_[address - start_]; }
  /// Whether a symbol of this (demangled) name begins at `start`.
  [[nodiscard]] bool begins(uint64_t start, const std::string& name, bool sized) const {
    const auto [first, last] = (sized ? starts_ : labels_).equal_range(start);
    return std::any_of(first, last, [&](const auto& entry) { return demangle(entry.second) == name; });
  }

 private:
  uint64_t start_;
  std::vector<uint64_t> functions_;
  std::multimap<uint64_t, std::string> starts_;
  std::multimap<uint64_t, std::string> labels_;
};

constexpr uint64_t kStep = kSanitized ? 13 : 1;  // every byte, or some of every function

bool same(const NamedRange& a, const NamedRange& b) {
  return a.start == b.start && a.end == b.end && a.function == b.function;
}

void expect_agreement(const Painted& painted, uint64_t address, const NamedRange& range) {
  ASSERT_LE(range.start, address);
  ASSERT_GT(range.end, address);
  ASSERT_FALSE(range.function.empty());
  if (const uint64_t start = painted.function_at(address)) {
    ASSERT_EQ(range.start, start) << range.function;
    ASSERT_TRUE(painted.begins(start, range.function, true)) << range.function << " at " << std::hex << start;
  } else if (range.function[0] != '[' && !range.function.ends_with("@plt")) {
    // Of a signal trampoline its unwind entry has one byte more.
    const bool trampoline = range.function == "trampoline" || range.function == "__restore_rt";
    const uint64_t code = range.start + (trampoline ? 1 : 0);
    ASSERT_TRUE(painted.begins(code, range.function, false) ||
                painted.begins(code, range.function, trampoline))
        << range.function << " is a neighbour's name";
  }
}

/// Asks for every byte of every executable section, a part at a time.
void expect_every_byte_named(const ElfFile& object, const ElfFile* debug,
                             const std::vector<ListedSymbol>& symbols) {
  constexpr uint64_t kPart = 1 << 16;
  TextMap map(object, debug, "object");
  for (const ElfSection& section : object.text()) {
    const Painted painted(symbols, section);
    for (uint64_t done = 0; done < section.size; done += kPart) {
      std::vector<uint64_t> addresses;
      for (uint64_t at = done; at < std::min(done + kPart, section.size); at += kStep)
        addresses.push_back(section.address + at);
      const auto ranges = map.name(addresses);
      ASSERT_EQ(ranges.size(), addresses.size());
      for (size_t i = 0; i < ranges.size(); i++) {
        const bool agreed = i != 0 && same(ranges[i], ranges[i - 1]) && addresses[i] < ranges[i].end &&
                            painted.function_at(addresses[i]) == painted.function_at(addresses[i - 1]);
        if (!agreed) expect_agreement(painted, addresses[i], ranges[i]);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class SystemLibrary : public testing::TestWithParam<const char*> {};

TEST_P(SystemLibrary, EveryByteAgreesWithReadelf) {
  std::string path = GetParam();
  if (path[0] != '/') path = output_of(std::string("gcc -print-file-name=") + GetParam())[0];
  if (path[0] != '/' || !exists(path)) GTEST_SKIP() << GetParam() << " is not here";
  const auto object = open_elf(path);
  expect_every_byte_named(*object, nullptr, listed_symbols(path));
}

TEST_P(SystemLibrary, EveryByteAgreesWithReadelfOfItsDebugFile) {
  std::string path = GetParam();
  if (path[0] != '/') path = output_of(std::string("gcc -print-file-name=") + GetParam())[0];
  if (path[0] != '/' || !exists(path)) GTEST_SKIP() << GetParam() << " is not here";
  const auto object = open_elf(path);
  const auto debug = DebugFinder().find(*object);
  if (!debug) GTEST_SKIP() << path << " has no debug file here";
  auto symbols = listed_symbols(path);
  const auto more = listed_symbols(debug->path());
  symbols.insert(symbols.end(), more.begin(), more.end());
  expect_every_byte_named(*object, debug.get(), symbols);
}

INSTANTIATE_TEST_SUITE_P(Libraries, SystemLibrary,
                         testing::Values("libc.so.6", "libm.so.6", "libstdc++.so.6", "liblzma.so.5",
                                         "libz.so.1", "libgcc_s.so.1", "libcrypto.so.3",
                                         "/usr/bin/python3.11", "/usr/bin/sqlite3",
                                         "/lib64/ld-linux-x86-64.so.2"),
                         [](const auto& name) {
                           std::string text = std::filesystem::path(name.param).filename();
                           std::ranges::replace_if(
                               text, [](char c) { return !isalnum(c); }, '_');
                           return text;
                         });

TEST(TextMap, OwnProgramsAgreeWithReadelf) {
  for (const char* name : {"layout", "layout_stripped", "inlined", "libcalls.so", "circle"}) {
    expect_every_byte_named(*open_elf(fixture(name)), nullptr, listed_symbols(fixture(name)));
  }
}

TEST(TextMap, WhatOneAsksForDoesNotChangeTheAnswers) {
  const auto object = open_elf(fixture("layout"));
  TextMap map(*object, nullptr, "object");
  std::vector<uint64_t> all;
  for (const ElfSection& section : object->text()) {
    for (uint64_t i = 0; i < section.size; i++) all.push_back(section.address + i);
  }
  const auto together = map.name(all);
  for (size_t i = 0; i < all.size(); i++) {
    const NamedRange alone = map.name({&all[i], 1}).at(0);
    ASSERT_EQ(alone.function, together[i].function);
    ASSERT_EQ(alone.start, together[i].start);
    ASSERT_EQ(alone.end, together[i].end);
  }
}

}  // namespace
}  // namespace pctally
