#include "report/prof/prof_listing.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

namespace pctally {
namespace {

ProfFunction function(uint64_t start, uint64_t end, std::vector<std::string> names, bool is_static = false) {
  ProfFunction function;
  function.start = start;
  function.end = end;
  function.names = std::move(names);
  function.is_static = is_static;
  return function;
}

/// main [0x1000, 0x1010)  helper (static) [0x1010, 0x1020)  gap  cosf,cosf32 [0x1030, 0x1040)
/// idle [0x1040, 0x1050)
ProfFunctions sample() {
  return ProfFunctions({function(0x1000, 0x1010, {"main"}), function(0x1010, 0x1020, {"helper"}, true),
                        function(0x1030, 0x1040, {"cosf", "cosf32"}), function(0x1040, 0x1050, {"idle"})});
}

double sum(const ProfFunctions& functions) {
  double ticks = functions.unnamed_ticks();
  for (const ProfFunction& one : functions.all()) ticks += one.ticks;
  return ticks;
}

TEST(ProfFunctions, ACounterInsideAFunctionIsItsAlone) {
  ProfFunctions functions = sample();
  functions.add(TextHistogram{0x1000, 0x1050, std::vector<uint64_t>(40, 1)});
  EXPECT_EQ(functions.all()[0].ticks, 8);
  EXPECT_EQ(functions.all()[1].ticks, 8);
  EXPECT_EQ(functions.all()[2].ticks, 8);
  EXPECT_EQ(functions.unnamed_ticks(), 8);
}

TEST(ProfFunctions, ACounterOverSeveralIsSharedByTheirBytes) {
  ProfFunctions functions = sample();
  functions.add(TextHistogram{0x1008, 0x1028, {30}});  // 8 bytes of main, 16 of helper, 8 of the gap
  EXPECT_DOUBLE_EQ(functions.all()[0].ticks, 10);
  EXPECT_DOUBLE_EQ(functions.all()[1].ticks, 20);
  EXPECT_EQ(functions.unnamed_ticks(), 0);
}

TEST(ProfFunctions, NoTickIsLostAtAnyWidth) {
  for (size_t counters : {1, 2, 3, 7, 40, 79, 80, 0x60}) {
    ProfFunctions functions = sample();
    functions.add(TextHistogram{0xff0, 0x1060, std::vector<uint64_t>(counters, 5)});
    EXPECT_NEAR(sum(functions), 5.0 * static_cast<double>(counters), 1e-9) << counters;
  }
}

TEST(ProfFunctions, CallsAreOfTheFunctionAroundThem) {
  ProfFunctions functions = sample();
  for (uint64_t address : {0x1004, 0x100f, 0x1010, 0x1020, 0x1050, 0xfff})
    functions.add(CallCount{address, 3});
  EXPECT_EQ(functions.all()[0].calls, 6u);
  EXPECT_EQ(functions.all()[1].calls, 3u);
  EXPECT_EQ(functions.all()[2].calls + functions.all()[3].calls, 0u);
}

struct Symbol {
  const char* name;
  uint64_t value;
  uint64_t size;
};

/// A program of 64 bits with text at [0x1000, 0x1040) and these functions.
std::vector<unsigned char> program_with(const std::vector<Symbol>& symbols) {
  constexpr Elf64_Half kSections = 4;
  std::string names(1, '\0');
  std::vector<Elf64_Sym> table(1);
  for (const Symbol& symbol : symbols) {
    table.push_back({static_cast<Elf64_Word>(names.size()), ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), STV_DEFAULT,
                     1, symbol.value, symbol.size});
    names.append(symbol.name).push_back('\0');
  }
  const uint64_t headers = sizeof(Elf64_Ehdr), at_table = headers + kSections * sizeof(Elf64_Shdr);
  const uint64_t table_bytes = table.size() * sizeof table[0], at_names = at_table + table_bytes;
  Elf64_Ehdr header{};
  memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC, header.e_machine = EM_X86_64, header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof header, header.e_shoff = headers;
  header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = kSections, header.e_shstrndx = 3;
  Elf64_Shdr sections[kSections] = {};
  sections[1] = {0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, headers, 0x40, 0, 0, 16, 0};
  sections[2] = {0, SHT_SYMTAB, 0, 0, at_table, table_bytes, 3, 1, 8, sizeof table[0]};
  sections[3] = {0, SHT_STRTAB, 0, 0, at_names, names.size(), 0, 0, 1, 0};
  std::vector<unsigned char> image(at_names + names.size());
  memcpy(image.data(), &header, sizeof header);
  memcpy(image.data() + headers, sections, sizeof sections);
  memcpy(image.data() + at_table, table.data(), table_bytes);
  memcpy(image.data() + at_names, names.data(), names.size());
  return image;
}

TEST(ProfFunctions, ASizeBeyondTheAddressSpaceTakesNoOthersTime) {
  for (uint64_t size : {UINT64_MAX, UINT64_MAX - 0x1010, UINT64_MAX - 0x1010 + 2, UINT64_MAX / 2}) {
    auto a_out = ElfFile::from_image(program_with(
        {{"first", 0x1000, 16}, {"endless", 0x1010, size}, {"third", 0x1020, 16}, {"last", 0x1030, size}}));
    ASSERT_TRUE(a_out) << a_out.error().text;
    ProfFunctions functions = ProfFunctions::of(*a_out, false);
    functions.add(TextHistogram{0x1000, 0x1040, {1, 2, 3, 4}});
    ASSERT_EQ(functions.all().size(), 4u);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(functions.all()[i].ticks, static_cast<double>(i + 1)) << i;
    EXPECT_EQ(functions.unnamed_ticks(), 0);
  }
}

ProfFunctions busy() {
  ProfFunctions functions = sample();
  functions.add(TextHistogram{0x1000, 0x1050, {123, 45, 4, 678, 0}});
  functions.add(CallCount{0x1000, 1});
  functions.add(CallCount{0x1010, 12});
  functions.add(CallCount{0x1030, 123456});
  return functions;
}

TEST(ProfListing, HasTheColumnsOfTheOriginal) {
  EXPECT_EQ(prof_listing(busy(), {{"[libc.so.6]", 150}, {"[lost]", 0}}, {}),
            " %Time Seconds Cumsecs  #Calls   msec/call  Name\n"
            "  67.8    6.78    6.78  123456      0.0549  cosf,cosf32\n"
            "  15.0    1.50    8.28                      [libc.so.6]\n"
            "  12.3    1.23    9.51       1   1230.      main\n"
            "   4.5    0.45    9.96      12     37.5     [static functions]\n"
            "   0.4    0.04   10.00                      [code without a symbol]\n");
}

TEST(ProfListing, ByCallsWithStaticsAndUnusedFunctions) {
  EXPECT_EQ(prof_listing(busy(), {},
                         {.order = ProfOrder::kCalls, .statics = true, .unused = true, .header = false}),
            "  79.8    6.78    6.78  123456      0.0549  cosf,cosf32\n"
            "   5.3    0.45    7.23      12     37.5     helper\n"
            "  14.5    1.23    8.46       1   1230.      main\n"
            "   0.0    0.00    8.46                      idle\n"
            "   0.5    0.04    8.50                      [code without a symbol]\n");
}

TEST(ProfListing, ByAddressInHex) {
  EXPECT_EQ(prof_listing(busy(), {}, {.order = ProfOrder::kAddress, .address = ProfAddress::kHex}),
            " %Time Seconds Cumsecs  #Calls   msec/call           Address  Name\n"
            "  14.5    1.23    1.23       1   1230.                0x1000  main\n"
            "  79.8    6.78    8.01  123456      0.0549            0x1030  cosf,cosf32\n"
            "   5.3    0.45    8.46      12     37.5                       [static functions]\n"
            "   0.5    0.04    8.50                                        [code without a symbol]\n");
}

TEST(ProfListing, ByNameInOctal) {
  EXPECT_EQ(
      prof_listing(busy(), {}, {.order = ProfOrder::kName, .address = ProfAddress::kOctal, .header = false}),
      "   0.5    0.04    0.04                                        [code without a symbol]\n"
      "   5.3    0.45    0.49      12     37.5                       [static functions]\n"
      "  79.8    6.78    7.27  123456      0.0549            010060  cosf,cosf32\n"
      "  14.5    1.23    8.50       1   1230.                010000  main\n");
}

TEST(ProfListing, NamesAreHarmless) {
  ProfFunctions functions({function(0, 4, {"_Z3fooi"}), function(4, 8, {"\033[2Jx"})});
  functions.add(TextHistogram{0, 8, {2, 1}});
  std::string text = prof_listing(functions, {{"[\033]", 1}}, {.header = false});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("_Z3fooi"), std::string::npos);
}

TEST(ProfListing, WithoutATickThereIsOnlyTheHeader) {
  EXPECT_EQ(prof_listing(sample(), {}, {}), " %Time Seconds Cumsecs  #Calls   msec/call  Name\n");
}

TEST(ProfSummary, CountsTicksCountersAndFunctions) {
  TextProfile profile;
  profile.histograms.push_back({0x1000, 0x1050, {123, 45, 4, 678, 0}});
  profile.calls.push_back({0x1000, 1});
  EXPECT_EQ(prof_summary(profile, busy(), 0.01),
            "850 ticks of 0.01 s: 8.50 s\n4 of 5 counters used, in 1 ranges of text\n"
            "3 of 4 functions have time, 4 ticks are in none\n1 call counts\n");
  EXPECT_EQ(prof_summary(profile, busy(), 1e-9),
            "850 nanoseconds: 0.00 s\n4 of 5 counters used, in 1 ranges of text\n"
            "3 of 4 functions have time, 4 nanoseconds are in none\n1 call counts\n")
      << "of a sum of runs";
}

}  // namespace
}  // namespace pctally
