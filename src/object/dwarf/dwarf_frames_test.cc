#include "object/dwarf/dwarf_frames.h"

#include <gmock/gmock.h>

#include <set>

#include "object/dwarf/debug_sections.h"
#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

/// The line of that source that ends in this comment.
uint32_t line_of(const std::string& comment, const std::string& source = "inlined.cc") {
  const auto lines = output_of("cat " PCTALLY_TESTDATA "/" + source);
  for (size_t i = 0; i < lines.size(); i++) {
    if (lines[i].ends_with("// " + comment)) return static_cast<uint32_t>(i + 1);
  }
  return 0;
}

std::vector<uint64_t> positions_of(const std::string& path, const ListedSymbol& symbol) {
  std::vector<uint64_t> positions;
  for (uint64_t i = 0; i < symbol.size; i++) positions.push_back(position_of(path, symbol.value + i));
  return positions;
}

std::string written(const Frame& frame) {
  return frame.function + " " + std::filesystem::path(frame.file).filename().string() + ":" +
         std::to_string(frame.line);
}

class FramesOf : public testing::TestWithParam<const char*> {};

TEST_P(FramesOf, AnInlinedChainIsToldInnermostFirst) {
  const std::string path = fixture(GetParam());
  if (!exists(path)) GTEST_SKIP() << "no compiler or tool for " << GetParam();
  const auto symbolizer = Symbolizer::open(identity_of(path));
  auto symbol = listed_symbol(fixture(std::string(GetParam()) == "linked" ? "inlined" : GetParam()),
                              "_ZN4deep9outermostEi");
  std::set<std::vector<std::string>> chains;
  for (const auto& frames : symbolizer->frames(positions_of(path, symbol))) {
    std::vector<std::string> chain;
    for (const Frame& frame : frames) chain.push_back(written(frame));
    ASSERT_FALSE(chain.empty());
    EXPECT_THAT(chain.back(), testing::StartsWith("deep::outermost(int) inlined.cc:"));
    chains.insert(chain);
  }
  const std::vector<std::string> expected{
      "deep::Leaf::run(int) inlined.cc:" + std::to_string(line_of("in leaf")),
      "int deep::middle<int>(int) inlined.cc:" + std::to_string(line_of("in middle")),
      "deep::outermost(int) inlined.cc:" + std::to_string(line_of("in outermost"))};
  EXPECT_THAT(chains, testing::Contains(expected));
  EXPECT_EQ(symbolizer->problem(), "");
}

/// deep::Leaf::run is declared in a class: the place of its definition counts.
TEST_P(FramesOf, EachFunctionStartsWhereItIsDefined) {
  const std::string path = fixture(GetParam());
  if (!exists(path)) GTEST_SKIP() << "no compiler or tool for " << GetParam();
  const auto symbol = listed_symbol(fixture(std::string(GetParam()) == "linked" ? "inlined" : GetParam()),
                                    "_ZN4deep9outermostEi");
  std::map<std::string, std::set<uint32_t>> starts;
  for (const auto& frames : Symbolizer::open(identity_of(path))->frames(positions_of(path, symbol)))
    for (const Frame& frame : frames) starts[frame.function].insert(frame.start_line);
  const std::map<std::string, std::set<uint32_t>> expected{
      {"deep::Leaf::run(int)", {line_of("start of leaf")}},
      {"int deep::middle<int>(int)", {line_of("start of middle")}},
      {"deep::outermost(int)", {line_of("start of outermost")}}};
  EXPECT_EQ(starts, expected);
}

INSTANTIATE_TEST_SUITE_P(Programs, FramesOf,
                         testing::Values("inlined", "inlined_dwarf4", "inlined_split", "inlined_zlib",
                                         "inlined_zstd", "inlined_clang5", "inlined_clang_split", "linked"),
                         [](const auto& name) { return std::string(name.param); });

/// DWARF 2 cannot say that a unit has code in several places.
TEST(Frames, OfDwarf2AreInEverySection) {
  for (const char* name : {"inlined_dwarf2", "inlined_dwarf2_alone"}) {
    for (const char* function : {"main", "_ZN4deep9outermostEi"}) {
      const auto positions = positions_of(fixture(name), listed_symbol(fixture(name), function));
      size_t with_line = 0;  // clang has code of no line
      for (const auto& frames : Symbolizer::open(identity_of(fixture(name)))->frames(positions)) {
        ASSERT_FALSE(frames.empty()) << name << " " << function;
        with_line += frames.front().line != 0 ? 1 : 0;
      }
      EXPECT_GT(2 * with_line, positions.size()) << name << " " << function;
    }
  }
}

class PathsOf : public testing::TestWithParam<const char*> {};

/// Also of what was inlined, and of MD5s.
TEST_P(PathsOf, ARelativeSourceLiesInTheDirectoryOfCompilation) {
  const std::string path = fixture(GetParam());
  if (!exists(path)) GTEST_SKIP() << "no compiler for " << GetParam();
  const auto symbolizer = Symbolizer::open(identity_of(path));
  const auto positions = positions_of(path, listed_symbol(path, "_ZN4deep9outermostEi"));
  std::set<std::string> files;
  size_t longest = 0;
  for (const auto& frames : symbolizer->frames(positions)) {
    for (const Frame& frame : frames) files.insert(frame.file);
    longest = std::max(longest, frames.size());
  }
  EXPECT_EQ(longest, 3u);
  EXPECT_THAT(files, testing::ElementsAre(fixture("sub/inlined.cc")));
  for (const auto& [file, md5] : symbolizer->digests(positions)) EXPECT_EQ(file, fixture("sub/inlined.cc"));
}

INSTANTIATE_TEST_SUITE_P(Programs, PathsOf,
                         testing::Values("relative_dwarf4", "relative_dwarf5", "relative_split",
                                         "relative_clang4", "relative_clang5", "absolute_clang5"),
                         [](const auto& name) { return std::string(name.param); });

TEST(Paths, OfARelativeDirectoryOfCompilationStayRelative) {
  const std::string path = fixture("relative_hidden");
  const auto positions = positions_of(path, listed_symbol(path, "_ZN4deep9outermostEi"));
  const auto frames = Symbolizer::open(identity_of(path))->frames(positions);
  // clang's table has that directory, ".", in front.
  EXPECT_EQ(std::filesystem::path(frames.at(0).at(0).file).lexically_normal(), "sub/inlined.cc");
}

/// Each chain as addr2line -i prints it: "function file:line" per frame.
std::vector<std::string> addr2line(const std::string& path, uint64_t address) {
  char number[24];
  snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
  const auto lines = output_of("addr2line -i -f -C -e " + path + " " + number);
  std::vector<std::string> frames;
  for (size_t i = 0; i + 1 < lines.size(); i += 2) {
    std::string place = std::filesystem::path(lines[i + 1]).filename();
    place = place.substr(0, place.find(' '));
    if (place.ends_with(":?")) place.replace(place.size() - 1, 1, "0");  // a line that is not known
    frames.push_back(lines[i] + " " + place);
  }
  return frames;
}

TEST(Frames, AgreeWithAddr2line) {
#ifdef __clang__
  GTEST_SKIP() << "addr2line of binutils does not see the functions that clang has inlined";
#endif
  const std::string path = fixture("inlined");
  const auto symbol = listed_symbol(path, "_ZN4deep9outermostEi");
  const auto positions = positions_of(path, symbol);
  const auto frames = Symbolizer::open(identity_of(path))->frames(positions);
  for (size_t i = 0; i < frames.size(); i++) {
    std::vector<std::string> ours;
    for (const Frame& frame : frames[i]) ours.push_back(written(frame));
    const auto theirs = addr2line(path, symbol.value + i);
    EXPECT_EQ(ours, theirs) << "at " << std::hex << symbol.value + i;
  }
}

TEST(Frames, ASelfReferringOriginAndADeepTreeEnd) {
  const std::string path = fixture("circle");
  const auto symbol = listed_symbol(path, "main");
  const auto frames = Symbolizer::open(identity_of(path))->frames(positions_of(path, symbol));
  ASSERT_EQ(frames.size(), 64u);
  EXPECT_EQ(frames[0].at(0).function, "main");
  ASSERT_EQ(frames[8].size(), 2u);
  EXPECT_EQ(frames[8][0].function, "");
  EXPECT_EQ(frames[8][1].function, "main");
}

TEST(Frames, OfFunctionsInAnEnumeration) {
  const std::string path = fixture("methods");
  const auto file = open_elf(path);
  const auto frames = DwarfFrames::open(*file);
  ASSERT_TRUE(frames);
  const uint64_t address = listed_symbol(path, "main").value;
  const auto found = (*frames)->frames({&address, 1}).at(0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].function, "method");
}

/// Those of one plain name stay apart.
TEST(Frames, FunctionsWithoutALinkageNameHaveTheirScopes) {
  const std::string path = fixture("local");
  std::set<std::string> innermost;
  const auto symbolizer = Symbolizer::open(identity_of(path));
  for (const auto& chain : symbolizer->frames(positions_of(path, listed_symbol(path, "_ZN4deep5visitEi"))))
    innermost.insert(chain.at(0).function);
#ifdef __clang__  // gives all of them one
  const std::string arguments = "(int) const", one = "$_0", two = "$_1";
#else
  const auto lambda = [](const char* which) {
    return "{lambda:" + std::to_string(line_of(which, "local.cc")) + "}";
  };
  const std::string arguments, one = lambda("one lambda"), two = lambda("two lambda");
#endif
  for (const std::string& method :
       {std::string("(anonymous namespace)::First::run"), std::string("(anonymous namespace)::Second::run"),
        std::string("deep::visit(int)::Local::run"), "deep::visit(int)::" + one + "::operator()",
        "deep::visit(int)::" + two + "::operator()"})
    EXPECT_THAT(innermost, testing::Contains(method + arguments));
  EXPECT_THAT(innermost, testing::Contains("plain"));  // extern "C", in a namespace
  // That has code of its own, which has a symbol.
  EXPECT_THAT(innermost, testing::Contains("(anonymous namespace)::both(int)"));
}

/// Parts that dwz has moved to a file are found beside the program, wherever this process runs.
TEST(Frames, NamesAreReadFromACompanion) {
  const std::string path = fixture("shared");
  const uint64_t address = listed_symbol(path, "main").value;
  const auto function_of = [&](DwarfFrames& frames) {
    return frames.frames({&address, 1}).at(0).at(0).function;
  };
  const auto file = open_elf(path);
  const auto frames = DwarfFrames::open(*file);
  ASSERT_TRUE(frames) << frames.error().text;
  EXPECT_EQ(function_of(**frames), "in_common");
  EXPECT_EQ((*frames)->problem(), "");

  const TemporaryDirectory elsewhere;
  std::filesystem::copy(path, elsewhere / "shared");
  const auto alone = open_elf(elsewhere / "shared");
  const auto without = DwarfFrames::open(*alone);
  ASSERT_TRUE(without);
  EXPECT_EQ(function_of(**without), "");
  EXPECT_THAT((*without)->problem(), testing::HasSubstr("companions/common (of dwz) is not here"));
  std::filesystem::create_directory(elsewhere / "companions");
  std::filesystem::copy(path, elsewhere / "companions/common");  // another file of that name
  EXPECT_NE((*DwarfFrames::open(*alone))->problem(), "");

  if (geteuid() != 0) return;
  std::filesystem::remove(elsewhere / "companions/common");
  std::filesystem::copy(fixture("companions/common"), elsewhere / "companions/common");
  ASSERT_EQ(chown((elsewhere / "companions/common").c_str(), 2000000001, 2000000001), 0);
  EXPECT_THAT((*DwarfFrames::open(*alone))->problem(),
              testing::HasSubstr("is another user's: it is not read"));
}

/// 101 functions in 100 blocks.
TEST(Frames, ADeepChainHasItsInnermostFunction) {
  const std::string path = fixture("deep");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  std::set<std::string> innermost;
  for (const auto& chain : symbolizer->frames(positions_of(path, listed_symbol(path, "surface"))))
    if (chain.size() > 50) innermost.insert(std::to_string(chain.size()) + " " + written(chain.front()));
  EXPECT_THAT(innermost, testing::Contains("102 unsigned int deeper<0>(unsigned int) deep.cc:16"));
}

/// Linkers leave their lines at address 0, over those of code that is there.
TEST(Frames, LinesOfDroppedFunctionsNameNoOtherCode) {
  const std::string path = fixture("dropped");
  const auto frames =
      Symbolizer::open(identity_of(path))->frames(positions_of(path, listed_symbol(path, "kept")));
  size_t with_line = 0;
  for (const auto& chain : frames) {
    ASSERT_EQ(chain.size(), 1u);
    if (chain[0].line == 0) continue;  // clang merges branches
    ++with_line;
    EXPECT_GE(chain[0].line, 7u);
    EXPECT_LE(chain[0].line, 14u);
  }
  EXPECT_GT(with_line, frames.size() / 2);
}

/// The skeleton has the lines alone.
TEST(Frames, ASplitUnitThatIsNotHereIsNamed) {
  const std::string path = fixture("inlined_split_alone");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  const auto positions = positions_of(path, listed_symbol(path, "_ZN4deep9outermostEi"));
  EXPECT_EQ(symbolizer->line_problem(), "");
  EXPECT_EQ(symbolizer->frames(positions).at(0).size(), 1u);
  EXPECT_THAT(symbolizer->line_problem(), testing::HasSubstr(".dwo is not here"));
}

TEST(Frames, SplitUnitsInAPackageAreNotSupported) {
  const TemporaryDirectory directory;
  const std::string path = directory / "program";
  std::filesystem::copy(fixture("inlined_split_alone"), path);
  write_file(path + ".dwp", "");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  (void)symbolizer->frames(positions_of(path, listed_symbol(path, "_ZN4deep9outermostEi")));
  EXPECT_THAT(symbolizer->line_problem(), testing::HasSubstr("split units in a .dwp are not supported"));
}

TEST(Frames, OfAUnitWithManyRangesReachTheLast) {
  const std::string path = fixture("ranges");
  const auto file = open_elf(path);
  const auto frames = DwarfFrames::open(*file);
  ASSERT_TRUE(frames);
  const uint64_t last = listed_symbol(path, "main").value + 2 * 69999;
  EXPECT_EQ((*frames)->frames({&last, 1}).at(0).size(), 1u);
  EXPECT_EQ((*frames)->problem(), "");
}

/// A few kilobytes of debug information can ask for gigabytes of names.
TEST(Frames, ThatAreTooLargeTogetherLoseInlinedFunctionsAndSaySo) {
  const std::string path = fixture("inlined");
  const auto file = open_elf(path);
  const auto whole = DwarfFrames::open(*file);
  const auto cut = DwarfFrames::open(*file, DwarfFrames::kMostBytes, 0);
  const ListedSymbol symbol = listed_symbol(path, "_ZN4deep9outermostEi");
  std::vector<uint64_t> addresses;
  for (uint64_t i = 0; i < symbol.size; i++) addresses.push_back(symbol.value + i);
  const auto expected = (*whole)->frames(addresses), found = (*cut)->frames(addresses);
  size_t inlined = 0;
  EXPECT_EQ(found[0].size(), expected[0].size());
  for (size_t i = 1; i < addresses.size(); i++) {
    inlined += expected[i].size() - 1;
    ASSERT_EQ(found[i].size(), 1u);
    EXPECT_EQ(found[i][0].function, "deep::outermost(int)");
    EXPECT_EQ(found[i][0].line, expected[i][0].line);
    EXPECT_EQ(found[i][0].file, expected[i][0].file);
  }
  EXPECT_NE(inlined, 0u);
  EXPECT_EQ((*whole)->problem(), "");
  EXPECT_THAT((*cut)->problem(), testing::HasSubstr("some are missing"));
}

class ForgottenUnits : public testing::TestWithParam<const char*> {};

/// Without room for a single unit each is forgotten for the next.
TEST_P(ForgottenUnits, AreReadAgain) {
  const std::string path = fixture(GetParam());
  const auto file = open_elf(path);
  const auto plain = open_elf(fixture("libunits.so"));
  const auto kept = DwarfFrames::open(*plain);
  const auto forgotten = DwarfFrames::open(*file, 0);
  ASSERT_TRUE(kept && forgotten);
  const ListedSymbol one = listed_symbol(path, "_ZN4deep9outermostEi");
  const ListedSymbol other = listed_symbol(path, "_Z9calls_outPKc");
  const auto texts = [](const auto& frames) {
    std::vector<std::string> chain;
    for (const Frame& frame : frames.at(0)) chain.push_back(written(frame));
    return chain;
  };
  std::set<std::string> outermost;
  for (uint64_t i = 0; i < std::min(one.size, other.size); i++)
    for (const uint64_t address : {one.value + i, other.value + i}) {
      const auto expected = texts((*kept)->frames({&address, 1}));
      ASSERT_FALSE(expected.empty());
      EXPECT_EQ(texts((*forgotten)->frames({&address, 1})), expected);
      EXPECT_EQ((*forgotten)->compiler_frames({&address, 1}).at(0).size(), expected.size());
      outermost.insert(expected.back().substr(0, expected.back().find('(')));
    }
  EXPECT_THAT(outermost, testing::ElementsAre("calls_out", "deep::outermost"));
}

INSTANTIATE_TEST_SUITE_P(Programs, ForgottenUnits, testing::Values("libunits.so", "libunits_zlib.so"),
                         [](const auto& name) {
                           return std::string(name.param).find("zlib") != std::string::npos ? "zlib"
                                                                                            : "plain";
                         });

/// In any order, and many at a time, the answers are those of each address alone.
TEST(Frames, OfSeveralUnitsStandWhereTheirAddressesDo) {
  const std::string path = fixture("libunits.so");
  const auto file = open_elf(path);
  const auto frames = DwarfFrames::open(*file, 0);
  ASSERT_TRUE(frames);
  const ListedSymbol one = listed_symbol(path, "_ZN4deep9outermostEi");
  const ListedSymbol other = listed_symbol(path, "_Z9calls_outPKc");
  const std::vector<uint64_t> addresses{one.value, other.value, 1, one.value + 1, other.value + 1};
  const auto all = (*frames)->frames(addresses);
  for (size_t i = 0; i < addresses.size(); i++) {
    const auto alone = (*frames)->frames({&addresses[i], 1}).at(0);
    ASSERT_EQ(all[i].size(), alone.size()) << i;
    for (size_t k = 0; k < alone.size(); k++) EXPECT_EQ(written(all[i][k]), written(alone[k]));
  }
  EXPECT_TRUE(all[2].empty());
}

/// Clang writes MD5s with DWARF 5, GCC 12 does not.
TEST(Digests, AreTheMd5sOfTheSources) {
  const std::string path = fixture("inlined_clang5");
  if (!exists(path)) GTEST_SKIP() << "no clang";
  const auto symbol = listed_symbol(path, "_ZN4deep9outermostEi");
  const auto symbolizer = Symbolizer::open(identity_of(path));
  const std::vector<uint64_t> positions = positions_of(path, symbol);
  const std::string source = read_file(std::string(PCTALLY_TESTDATA) + "/inlined.cc");
  const Md5 expected = md5_of({reinterpret_cast<const unsigned char*>(source.data()), source.size()});
  const std::string name = symbolizer->frames(positions).at(0).at(0).file;
  EXPECT_TRUE(symbolizer->digests(positions).contains({name, expected})) << name;
  EXPECT_TRUE(symbolizer->digests({}).empty());
  const std::string older = fixture("inlined_dwarf4");
  const auto positions_there = positions_of(older, listed_symbol(older, "_ZN4deep9outermostEi"));
  EXPECT_TRUE(Symbolizer::open(identity_of(older))->digests(positions_there).empty());
}

/// Whatever a byte of the line table's head is: nothing but an answer comes of it.
TEST(Digests, OfADamagedTableAreFewer) {
  if (!exists(fixture("inlined_clang5"))) GTEST_SKIP() << "no clang";
  const std::string text = read_file(fixture("inlined_clang5"));
  const ElfSection section = *open_elf(fixture("inlined_clang5"))->section(".debug_line");
  const auto symbol = listed_symbol(fixture("inlined_clang5"), "_ZN4deep9outermostEi");
  for (uint64_t at = 0; at < std::min<uint64_t>(section.size, 200); ++at)
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::vector<unsigned char> bytes(text.begin(), text.end());
      bytes[section.offset + at] = static_cast<unsigned char>(value);
      const auto file = ElfFile::from_image(std::move(bytes));
      ASSERT_TRUE(file);
      if (auto frames = DwarfFrames::open(*file)) (*frames)->digests({&symbol.value, 1});
    }
}

TEST(Frames, WithoutLineInformationTheProblemSaysSo) {
  const auto symbolizer = Symbolizer::open(identity_of(fixture("layout_stripped")));
  EXPECT_EQ(symbolizer->problem(), "");
  const uint64_t position = position_of(fixture("layout"), listed_symbol(fixture("layout"), "main").value);
  EXPECT_TRUE(symbolizer->frames({&position, 1}).at(0).empty());
  EXPECT_THAT(symbolizer->line_problem(), testing::HasSubstr("no line information"));
  EXPECT_EQ(symbolizer->problem(), "");
}

/// The bytes of a fixture with the size a compressed section claims replaced.
std::vector<unsigned char> with_claim(const std::string& name, uint64_t claim,
                                      const char* section_name = ".debug_info") {
  const std::string text = read_file(fixture(name));
  std::vector<unsigned char> bytes(text.begin(), text.end());
  const auto file = open_elf(fixture(name));
  const ElfSection* section = file->section(section_name);
  for (size_t i = 0; i < sizeof claim; i++) {
    bytes[section->offset + 8 + i] = static_cast<unsigned char>(claim >> 8 * i);
  }
  return bytes;
}

TEST(DebugSections, ClaimsNobodyCanBelieveAreRefused) {
  for (const char* name : {"inlined_zlib", "inlined_zstd"}) {
    if (!exists(fixture(name))) continue;
    for (uint64_t claim : {uint64_t{1} << 32, uint64_t{1} << 62, UINT64_MAX}) {
      const auto file = ElfFile::from_image(with_claim(name, claim));
      ASSERT_TRUE(file);
      EXPECT_FALSE(DwarfFrames::open(*file)) << name << " claiming " << claim;
    }
  }
}

/// The memory for rows would be a hundred times as large.
TEST(DebugSections, ALineTableCannotHaveShrunkAsMuchAsTheOthers) {
  const uint64_t claim = uint64_t{2} << 20;
  for (const char* name : {"inlined_zlib", "inlined_zstd"}) {
    if (!exists(fixture(name))) continue;
    const auto file = ElfFile::from_image(with_claim(name, claim, ".debug_line"));
    ASSERT_TRUE(file);
    const auto frames = DwarfFrames::open(*file);
    ASSERT_FALSE(frames);
    EXPECT_THAT(frames.error().text, testing::HasSubstr("claim more than 1 MB"));
  }
}

TEST(DebugSections, ZstdIsDecompressed) {
  if (!exists(fixture("inlined_zstd"))) GTEST_SKIP() << "objcopy knows no zstd";
  const auto file = open_elf(fixture("inlined_zstd"));
  const auto plain = open_elf(fixture("inlined"));
  const auto decompressed = decompress_debug_sections(*file);
  ASSERT_TRUE(decompressed) << decompressed.error().text;
  ASSERT_NE(*decompressed, nullptr);
  for (const char* name : {".debug_info", ".debug_abbrev", ".debug_line"}) {
    const auto ours = (*decompressed)->contents(*(*decompressed)->section(name));
    const auto theirs = plain->contents(*plain->section(name));
    EXPECT_TRUE(std::ranges::equal(ours, theirs)) << name;
  }
  const auto unchanged = decompress_debug_sections(*plain);
  ASSERT_TRUE(unchanged);
  EXPECT_EQ(*unchanged, nullptr);
}

}  // namespace
}  // namespace pctally
