#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "profile/positions.h"
#include "report/annotate/jump_lanes.h"
#include "report/annotate/listing_rows.h"
#include "report/annotate/output.h"
#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// 0: push %rbp; 1: mov %rsp,%rbp; 4: test %edi,%edi; 6: je c; 8: dec %edi; a: jmp 4; c: pop %rbp; d: ret
constexpr uint8_t kLoop[] = {0x55, 0x48, 0x89, 0xe5, 0x85, 0xff, 0x74,
                             0x04, 0xff, 0xcf, 0xeb, 0xf8, 0x5d, 0xc3};

/// Every function of "/bin/cxx" is the loop; a line is four bytes long.
class LoopSymbolizer : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
    for (NamedRange& range : ranges) {
      range.end = range.start + sizeof kLoop;
      range.address = range.start + kBase;
    }
    return ranges;
  }
  CodeBytes code(uint64_t start, uint64_t end) override {
    CodeBytes code{.address = start + kBase, .machine = EM_X86_64, .changed_unix_ns = 1};
    if (end - start == sizeof kLoop) code.bytes.assign(std::begin(kLoop), std::end(kLoop));
    return code;
  }
  std::optional<uint64_t> position(uint64_t address) override { return address - kBase; }
  static constexpr uint64_t kBase = 0x400000;
};

std::unique_ptr<Symbolizer> open_loop(const ExecutableIdentity& identity) {
  return std::make_unique<LoopSymbolizer>(identity);
}

Profile loop_profile() {
  Profile profile;
  profile.period_ns = 1000000;
  profile.executables.push_back({ExecutableKind::kFile, "/bin/cxx", {1}, 0});
  profile.positions = {{0, 0x100, 5}, {0, 0x104, 10}, {0, 0x109, 80}, {0, 0x204, 15}};
  profile.ledger = {.counted = 110, .outside = 0, .full = 0, .lost = 10, .samples = 110};
  return profile;
}

struct Annotated {
  Profile profile = loop_profile();
  ObjectNames names{profile, &open_loop};
  std::vector<HotFunction> functions = hot_functions(profile, names);
  SourceFiles sources{{}};
  Annotator annotator{profile, names, functions.at(0), Syntax::kAtt};
};

TEST(JumpLanes, ShortJumpsLieInsideLongOnes) {
  JumpLanes lanes({{0, 4}, {3, 1}}, 4);
  std::vector<std::string> rows;
  for (size_t row = 0; row < 5; ++row) rows.push_back(lanes.drawing(row));
  EXPECT_THAT(rows, ElementsAre(".----", "| .->", "| |  ", "| '--", "'--->"));
  EXPECT_EQ(JumpLanes({{0, 4}, {3, 1}}, 1).width(), 3u) << "what finds no lane is not drawn";
  EXPECT_EQ(JumpLanes({{2, 2}}, 4).width(), 0u);
  EXPECT_EQ(JumpLanes({{0, 1}, {1, 2}}, 4).width(), 5u) << "two that share a row";
  EXPECT_EQ(JumpLanes({{5, 6}, {0, 1}, {3, 2}}, 4).width(), 3u);
  EXPECT_EQ(JumpLanes({{5, 6}, {0, 1}, {3, 2}}, 4).drawing(4), "   ");
}

TEST(FindFunction, ByPlace) {
  SourcePlace place;
  EXPECT_TRUE(parse_place("a/b.cc:28", &place));
  EXPECT_EQ(place.file, "a/b.cc");
  EXPECT_EQ(place.line, 28u);
  for (const char* other : {"main", "a::b", "b.cc:", ":3", "b.cc:x", "a::3"})
    EXPECT_FALSE(parse_place(other, &place)) << other;
  EXPECT_TRUE(is_path("/src/a/b.cc", "b.cc"));
  EXPECT_TRUE(is_path("/src/a/b.cc", "./a/b.cc"));
  EXPECT_FALSE(is_path("/src/a/bb.cc", "b.cc"));
}

TEST(FindFunction, TheBestNameWins) {
  Annotated all;
  auto called = [&](const char* query) {
    std::vector<std::string> names;
    for (const HotFunction* function : functions_called(all.functions, query))
      names.push_back(function->short_name);
    return names;
  };
  EXPECT_THAT(called("void put<int>(int)"), ElementsAre("put(int)"));
  EXPECT_THAT(called("_Zputl"), ElementsAre("put(long)"));
  EXPECT_THAT(called("put(long)"), ElementsAre("put(long)"));
  EXPECT_THAT(called("put"), ElementsAre("put(int)", "put(long)"));
  EXPECT_THAT(called("ut"), ElementsAre("put(int)", "put(long)"));
  EXPECT_THAT(called("put<int>"), ElementsAre("put(int)"));
  EXPECT_THAT(called("put<long>(long)"), ElementsAre("put(long)"));
  EXPECT_THAT(called("t<lo"), ElementsAre("put(long)"));
  EXPECT_THAT(called("void"), ElementsAre("put(int)", "put(long)"));
  EXPECT_THAT(called("nothing"), ElementsAre());
  std::vector<HotFunction> others = all.functions;
  others[0].object = "ut";
  EXPECT_TRUE(functions_called(others, "ut").empty()) << "an object is called so";
  EXPECT_EQ(functions_called(others, "put").size(), 2u);
  SourcePlace place{"cxx.c", 0x204 / 16};
  EXPECT_EQ(functions_at(all.functions, all.names, place).size(), 1u);
}

TEST(FindFunction, OfCopiesTheOneWithNearlyAllTicksOrByItsAddress) {
  Annotated all;
  all.profile.positions = {{0, 0x404, 100}, {0, 0x504, 9}, {0, 0x104, 1}};  // "help", "help", "put"
  add_up(&all.profile.positions);
  std::vector<HotFunction> functions = hot_functions(all.profile, all.names);
  const auto copies = functions_called(functions, "help");
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(main_copy(copies), copies[0]);
  for (const char* address : {"[0x400500]", "0x400500"}) {
    const auto found = functions_called(functions, address);
    ASSERT_EQ(found.size(), 1u) << copies[1]->short_name;
    EXPECT_EQ(found[0], copies[1]);
  }
  EXPECT_TRUE(functions_called(functions, "0x500").empty());
  functions[1].ticks = 11;
  EXPECT_EQ(main_copy(copies), nullptr);
  EXPECT_EQ(main_copy({&functions[0], &functions[2]}), nullptr) << "two functions";
}

/// In each function lies code of a member of a template.
class InlinedMembers : public LoopSymbolizer {
 public:
  using LoopSymbolizer::LoopSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all = LoopSymbolizer::find_frames(positions);
    for (std::vector<Frame>& frames : all)
      frames.insert(frames.begin(), {"ns::list<int>::append(int const&)", "/src/list.h", 7, "_ZN2ns4list"});
    return all;
  }
};

TEST(FindFunction, WhatItWasInlinedInto) {
  Profile profile = loop_profile();
  ObjectNames names(profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<InlinedMembers>(identity);
  });
  const std::vector<HotFunction> functions = hot_functions(profile, names);
  for (const char* query :
       {"append", "list::append", "ns::list::append", "ns::list<int>::append(int const&)", "_ZN2ns4list"})
    EXPECT_EQ(functions_around(functions, names, query).size(), 2u) << query;
  EXPECT_TRUE(functions_around(functions, names, "appen").empty()) << "a part of a name";
  for (const char* query : {"put", "void put<int>(int)", "_Zputi"})
    EXPECT_TRUE(functions_around(functions, names, query).empty()) << "a function is not inlined into itself";
}

/// Each function has a second symbol.
class TwoNames : public LoopSymbolizer {
 public:
  using LoopSymbolizer::LoopSymbolizer;
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override {
    std::vector<std::vector<SymbolName>> all;
    for (const uint64_t start : starts) all.push_back({{"ns::put" + std::to_string(start), "_ZN2ns3put"}});
    return all;
  }
};

TEST(FindFunction, ByAnotherSymbolOfItsCode) {
  Profile profile = loop_profile();
  ObjectNames names(profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<TwoNames>(identity);
  });
  const std::vector<HotFunction> functions = hot_functions(profile, names);
  EXPECT_THAT(functions_aliased(functions, names, "ns::put256"), ElementsAre(&functions[0]));
  EXPECT_THAT(functions_aliased(functions, names, "ns::put512"), ElementsAre(&functions[1]));
  EXPECT_THAT(functions_aliased(functions, names, "_ZN2ns3put"), ElementsAre(&functions[0], &functions[1]));
  EXPECT_TRUE(functions_aliased(functions, names, "put256").empty()) << "not as a whole";
}

TEST(Annotation, AddsUpToTheFunction) {
  Annotated all;
  const Annotation& annotation = all.annotator.annotation();
  EXPECT_EQ(annotation.ticks.ticks, 95u);
  uint64_t instructions = 0, lines = 0;
  for (const AnnotatedInstruction& row : annotation.instructions) instructions += row.ticks.ticks;
  for (const AnnotatedLine& line : annotation.lines) lines += line.ticks.ticks;
  EXPECT_EQ(instructions, 95u);
  EXPECT_EQ(lines, 95u);
  if (!annotation.problem.empty()) GTEST_SKIP() << "built without Zydis";
  EXPECT_EQ(annotation.instructions.size(), 8u);
  EXPECT_EQ(annotation.instructions[4].ticks.ticks, 80u) << "a place inside an instruction counts for it";
  EXPECT_EQ(annotation.instructions[0].ticks.ticks, 5u);
  EXPECT_EQ(annotation.instructions[2].ticks.ticks, 10u);
  EXPECT_EQ(all.annotator.jump_target(5), 2u);
  EXPECT_FALSE(all.annotator.jump_target(1).has_value());
}

TEST(Annotation, LeftOutInstructionsAreARow) {
  Annotated all;
  if (!all.annotator.annotation().problem.empty()) GTEST_SKIP() << "built without Zydis";
  uint64_t ticks = 0;
  size_t instructions = 0;
  for (const ListingRow& row : listing_rows(all.annotator, false, 0.8)) {
    if (row.kind == ListingRow::Kind::kLeftOut) {
      ticks += row.ticks;
      instructions += row.last - row.first + 1;
    } else if (row.kind == ListingRow::Kind::kInstruction) {
      ticks += all.annotator.annotation().instructions[row.first].ticks.ticks;
      ++instructions;
    }
  }
  EXPECT_EQ(ticks, 95u);
  EXPECT_EQ(instructions, 8u);
}

TEST(Annotation, AsText) {
  Annotated all;
  if (!all.annotator.annotation().problem.empty()) GTEST_SKIP() << "built without Zydis";
  std::string text = annotation_text(all.profile, all.annotator, all.sources, {});
  EXPECT_THAT(text, AllOf(HasSubstr("put(int)   cxx   79.17 % ± "), HasSubstr("400106  je      40010c"),
                          HasSubstr("(source not found)"), HasSubstr("skid: "), Not(HasSubstr("\033"))));
  EXPECT_THAT(text, HasSubstr("> "));
  EXPECT_THAT(annotation_text(all.profile, all.annotator, all.sources, {.color = true}),
              HasSubstr("\033[1;31m"));
  EXPECT_THAT(annotation_text(all.profile, all.annotator, all.sources, {.width = 80}),
              Not(HasSubstr("  ticks")));
}

/// The second line is not known, nor is anything of the third.
class HalfKnownLines : public LoopSymbolizer {
 public:
  using LoopSymbolizer::LoopSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all;
    for (const uint64_t position : positions) {
      const uint64_t at = position % 0x100;
      all.emplace_back();
      if (at < 8) all.back().push_back({"f", "/src/z.c", at < 4 ? 5u : 0u});
    }
    return all;
  }
};

/// f1 calls f2 at its fifth byte, in a line where it has ticks, and itself at its tenth.
Profile profile_with_calls() {
  Profile profile = loop_profile();
  profile.paths.recorded = true;
  const auto code = [](uint32_t parent, uint64_t position, uint64_t self) {
    return PathTreeNode{.parent = parent, .kind = PathNodeKind::kCode, .position = position, .self = self};
  };
  profile.paths.context = {{.kind = PathNodeKind::kScope},
                           code(0, 0x105, 0),
                           code(1, 0x200, 15),
                           code(0, 0x10a, 0),
                           code(3, 0x100, 20),
                           code(0, 0x100, 75)};
  return profile;
}

TEST(Annotation, ALineCountsWhatItCalls) {
  const Profile profile = profile_with_calls();
  ObjectNames names(profile, &open_loop);
  const std::vector<HotFunction> functions = hot_functions(profile, names);
  Annotator annotator(profile, names, functions.at(0), Syntax::kAtt);
  const Annotation& annotation = annotator.annotation();
  EXPECT_TRUE(annotation.with_totals);
  ASSERT_EQ(annotation.lines.size(), 1u);
  EXPECT_EQ(annotation.lines[0].ticks.ticks, 95u) << "own ticks still add up to the function";
  EXPECT_EQ(annotation.lines[0].total.ticks.low, 110u)
      << "20 may be the same: its own below its call of itself";
  EXPECT_EQ(annotation.lines[0].total.ticks.high, 130u);
  SourceFiles sources{{}};
  EXPECT_THAT(annotation_text(profile, annotator, sources, {}), HasSubstr("  total  line"));
  EXPECT_THAT(annotation_json(profile, annotator, sources), HasSubstr("\"total_ticks\""));
}

TEST(Annotation, AFunctionThatOnlyCallsOthersHasLinesAlone) {
  Profile profile = profile_with_calls();
  profile.positions = {{0, 0x204, 110}};
  profile.ledger.counted = 110;
  ObjectNames names(profile, &open_loop);
  const std::vector<HotFunction> callers = calling_functions(profile, names);
  ASSERT_EQ(callers.size(), 1u);
  EXPECT_EQ(callers[0].ticks, 0u);
  Annotator annotator(profile, names, callers[0], Syntax::kAtt);
  SourceFiles sources{{}};
  const std::string text = annotation_text(profile, annotator, sources, {});
  EXPECT_THAT(text, HasSubstr("no instructions: it has no ticks of its own"));
  EXPECT_THAT(text, Not(HasSubstr("address  instruction")));
}

TEST(Annotation, InstructionsWithoutALineStandBelowNone) {
  Profile profile = loop_profile();
  ObjectNames names(profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    return std::make_unique<HalfKnownLines>(identity);
  });
  const std::vector<HotFunction> functions = hot_functions(profile, names);
  Annotator annotator(profile, names, functions.at(0), Syntax::kAtt);
  if (!annotator.annotation().problem.empty()) GTEST_SKIP() << "built without Zydis";
  std::vector<std::string> rows;
  for (const ListingRow& row : listing_rows(annotator, true, 0)) {
    if (row.kind == ListingRow::Kind::kLine) rows.push_back(row.file + ":" + std::to_string(row.line));
    if (row.kind == ListingRow::Kind::kInstruction) rows.push_back(std::to_string(row.first));
  }
  EXPECT_THAT(rows, ElementsAre("/src/z.c:5", "0", "1", ":0", "2", "3", "4", "5", "6", "7"));
  SourceFiles sources{{}};
  EXPECT_THAT(annotation_text(profile, annotator, sources, {.all = true}), HasSubstr("\n(no line)\n"));
}

TEST(Annotation, AsJson) {
  Annotated all;
  auto json = nlohmann::json::parse(annotation_json(all.profile, all.annotator, all.sources));
  uint64_t ticks = 0;
  for (const auto& row : json["instructions"]) ticks += row["ticks"].get<uint64_t>();
  EXPECT_EQ(ticks, json["ticks"].get<uint64_t>());
  EXPECT_EQ(json["function"], "void put<int>(int)");
  EXPECT_EQ(json["short"], "put(int)");
}

TEST(Annotation, WithoutCodeThePlacesAreNamed) {
  Profile profile = loop_profile();
  ObjectNames names(profile, &FakeSymbolizer::open);
  std::vector<HotFunction> functions = hot_functions(profile, names);
  Annotator annotator(profile, names, functions[0], Syntax::kAtt);
  EXPECT_EQ(annotator.annotation().instructions.size(), 3u);
  SourceFiles sources({});
  EXPECT_THAT(annotation_text(profile, annotator, sources, {}),
              HasSubstr("no instructions: its code is not in the file"));
}

class LargeFunctions : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    std::vector<NamedRange> ranges = FakeSymbolizer::find_names(positions);
    for (NamedRange& range : ranges) range.end = range.start + (4 << 20) + 1;
    return ranges;
  }
};

TEST(Annotation, LargeCodeIsCalledWhatItIs) {
  for (const auto& [path, problem] :
       {std::pair("/bin/cxx", "the function is larger than 4 MiB"),
        std::pair("/lib/stripped.so", "more than 4 MiB of code without a name")}) {
    Profile profile = loop_profile();
    profile.executables[0].path = path;
    ObjectNames names(profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
      return std::make_unique<LargeFunctions>(identity);
    });
    const std::vector<HotFunction> functions = hot_functions(profile, names);
    EXPECT_EQ(Annotator(profile, names, functions[0], Syntax::kAtt).annotation().problem, problem);
  }
}

class Sources : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pctally-sources-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  static Owner caller() { return geteuid(); }
  /// What is wrong with a.c if a file of `owner` names it.
  [[nodiscard]] std::string problem_for(Owner owner) const {
    SourceFiles files({});
    files.named_by(owner, {}, path("a.c"));
    return files.file(path("a.c")).problem;
  }
  [[nodiscard]] std::string path(const char* name) const { return directory_ + "/" + name; }
  std::string directory_;
};

TEST_F(Sources, AreFoundWhereTheyAreNow) {
  std::ofstream(path("a.c")) << "one\n\ttwo\r\nthree";
  SourceFiles files({*parse_source_path("/build=" + directory_)}, {}, {}, &caller);
  EXPECT_EQ(files.line("/build/a.c", 2), "        two");
  EXPECT_EQ(files.line("/build/a.c", 3), "three");
  EXPECT_EQ(files.line("/build/a.c", 4), "");
  EXPECT_EQ(files.line("/build/a.c", 0), "");
  EXPECT_EQ(files.file("/build/b.c").problem, "not found");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory_);
  EXPECT_EQ(files.file("a.c").problem, "not found") << "a relative name is no file here";
  SourceFiles here({{"sub/", directory_ + "/"}}, {}, {}, &caller);
  EXPECT_EQ(here.line("sub/a.c", 1), "one");
  std::filesystem::current_path(before);
  EXPECT_FALSE(parse_source_path("nothing"));
  EXPECT_FALSE(parse_source_path("=x"));
}

constexpr uid_t kOtherUser = 2000000001;

/// Debug information may name any file, and root may read any.
TEST_F(Sources, WhoeverNamesASourceMustBeAbleToReadIt) {
  std::ofstream(path("a.c")) << "one";
  const std::string refused = "the owner of the program that names it may not read it";
  for (const auto& [mode, directory_mode, problem] :
       {std::tuple(0600, 0755, refused), {0644, 0700, refused}, {0644, 0755, std::string()}}) {
    ASSERT_EQ(chmod(path("a.c").c_str(), mode) + chmod(directory_.c_str(), directory_mode), 0);
    EXPECT_EQ(problem_for(geteuid()), "");
    EXPECT_EQ(problem_for(0), "");
    EXPECT_EQ(problem_for(kOtherUser), problem);
    EXPECT_EQ(problem_for(std::nullopt), problem.empty() ? "" : kNotForAll);
  }
}

TEST_F(Sources, OneOfThoseWhoNameASourceIsEnough) {
  std::ofstream(path("a.c")) << "one";
  SourceFiles files({});
  EXPECT_NE(files.file(path("a.c")).problem, "");
  files.named_by(kOtherUser, {}, path("a.c"));
  EXPECT_NE(files.file(path("a.c")).problem, "");
  files.named_by(geteuid(), {}, path("a.c"));
  EXPECT_EQ(files.line(path("a.c"), 1), "one");
  files.named_by(std::nullopt, {}, path("a.c"));
  EXPECT_EQ(files.line(path("a.c"), 1), "one");
}

TEST_F(Sources, TheOwnersOwnAreReadForThem) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make files of other users";
  std::ofstream(path("a.c")) << "one";
  ASSERT_EQ(chown(path("a.c").c_str(), kOtherUser, kOtherUser) + chmod(path("a.c").c_str(), 0600), 0);
  EXPECT_EQ(problem_for(kOtherUser), "");
  EXPECT_NE(problem_for(kOtherUser + 1), "");
}

TEST_F(Sources, WhatIsNoSourceIsNotOpened) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  std::ofstream(path("binary")) << std::string(10, '\0');
  std::ofstream(path("large")) << std::string((4 << 20) + 1, 'x');
  SourceFiles files({}, {}, {}, &caller);
  for (const std::string& name :
       {path("fifo"), path("binary"), path("large"), std::string("/dev/zero"), directory_}) {
    EXPECT_FALSE(files.file(name).problem.empty()) << name;
    EXPECT_TRUE(files.file(name).lines.empty()) << name;
  }
}

}  // namespace
}  // namespace pctally
