// diff --by line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/diff/diff.h"
#include "report/diff/diff_for_test.h"
#include "report/diff/output.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;

/// Its sources are where the program is.
class SymbolizerOfMovedSources : public FakeSymbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<SymbolizerOfMovedSources>(identity);
  }
  explicit SymbolizerOfMovedSources(const ExecutableIdentity& identity)
      : FakeSymbolizer(identity), directory_(identity.path.substr(0, identity.path.rfind('/'))) {}

  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    auto all = FakeSymbolizer::find_frames(positions);
    for (auto& frames : all)
      for (Frame& frame : frames) frame.file = directory_ + "/a.c";
    return all;
  }

 private:
  std::string directory_;
};

TEST(Diff, LinesAreTheSameInAnotherDirectory) {
  const auto diff = make_diff({run_of({0, 500, 300}, {1}, "/old/y")}, {run_of({0, 500, 900}, {2}, "/new/y")},
                              &SymbolizerOfMovedSources::open, {.by = Grouping::kLine});
  ASSERT_TRUE(diff);
  ASSERT_EQ(diff->rows.size(), 2u);
  EXPECT_EQ(row_of(*diff, "/new/a.c:32").verdict, Verdict::kMore);
  EXPECT_EQ(row_of(*diff, "/new/a.c:16").old_side.ticks, 500u);
}

TEST(Diff, LinesOfAnotherBuildAreInDoubt) {
  const Profile old_run = run_of({0, 500}, {1}), rebuilt = run_of({0, 500}, {2}),
                unknown = run_of({0, 500}, {});
  const auto objects_in_doubt = [](const Profile& before, const Profile& after, Grouping by) {
    std::vector<std::string> objects;
    for (const Doubt& doubt : diff_of({before}, {after}, {.by = by}).doubts) objects.push_back(doubt.profile);
    return objects;
  };
  const std::vector<std::string> none, object = {"y"};
  EXPECT_EQ(objects_in_doubt(old_run, old_run, Grouping::kLine), none);
  EXPECT_EQ(objects_in_doubt(old_run, rebuilt, Grouping::kLine), object);
  EXPECT_EQ(objects_in_doubt(unknown, unknown, Grouping::kLine), object);
  EXPECT_EQ(objects_in_doubt(old_run, rebuilt, Grouping::kFunction), none);
  EXPECT_EQ(objects_in_doubt(old_run, run_of({0, 500}, {2}, "/x/z"), Grouping::kLine), none) << "new code";
  EXPECT_THAT(
      diff_text(diff_of({old_run}, {rebuilt}, {.by = Grouping::kLine}), {}),
      HasSubstr("\nwarning: y: it is not of one build; lines are compared by number, and an added line "
                "moves all below it\n"));
}

/// "/bin/cxx" without lines: its symbols alone are there.
class SymbolizerWithoutLines : public FakeSymbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<SymbolizerWithoutLines>(identity);
  }
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t>) override { return {}; }
};

TEST(Diff, CodeWithoutLinesIsItsFunctionByItsShortName) {
  const Profile old_run = run_of({0, 0, 0, 500, 0, 0, 0, 0, 300}, {1}, "/bin/cxx"),
                new_run = run_of({0, 0, 0, 900, 0, 0, 0, 300}, {1}, "/bin/cxx");
  const auto diff = make_diff({old_run}, {new_run}, &SymbolizerWithoutLines::open, {.by = Grouping::kLine});
  ASSERT_TRUE(diff);
  const DiffRow& sort = row_of(*diff, "std::__cxx11::list<int>::sort()");
  EXPECT_EQ(shown_name(*diff, sort), "std::list::sort");
  EXPECT_EQ(row_of(*diff, "ns::log(int, char const*)").new_side.ticks, 300u);
  EXPECT_EQ(row_of(*diff, "ns::log(int, char const*)").old_side.ticks, 300u) << "a clone is its function";
  EXPECT_THAT(cause_sentence(*diff), HasSubstr(": std::list::sort, more by "));
}

/// "/old/y" and "/new/y" are two builds: in the new one all functions begin three lines further down. f3 is
/// of a macro above them, and nobody knows where f4 begins.
class SymbolizerOfMovedLines : public FakeSymbolizer {
 public:
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<SymbolizerOfMovedLines>(identity);
  }
  explicit SymbolizerOfMovedLines(const ExecutableIdentity& identity)
      : FakeSymbolizer(identity), moved_(identity.path.starts_with("/new") ? 3 : 0) {}

  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    auto all = FakeSymbolizer::find_frames(positions);
    for (size_t i = 0; i < all.size(); ++i)
      for (Frame& frame : all[i]) {
        const uint64_t function = positions[i] / 0x100;
        const uint32_t start = static_cast<uint32_t>(function * 0x10) + moved_;
        frame.start_line = function == 4 ? 0 : start;
        frame.line = function == 3 ? 2 : start + 5;
      }
    return all;
  }

 private:
  uint32_t moved_;
};

Diff diff_of_moved_lines(const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
  const auto diff = make_diff({run_of(before, {1}, "/old/y")}, {run_of(after, {2}, "/new/y")},
                              &SymbolizerOfMovedLines::open, {.by = Grouping::kLine});
  EXPECT_TRUE(diff);
  return diff ? *diff : Diff{};
}

TEST(Diff, LinesAreCountedFromTheStartOfTheirFunction) {
  const Diff diff = diff_of_moved_lines({0, 500, 300}, {0, 500, 900});
  ASSERT_EQ(diff.rows.size(), 2u);
  EXPECT_EQ(row_of(diff, "/src/y.c:40").verdict, Verdict::kMore);
  EXPECT_EQ(row_of(diff, "/src/y.c:24").old_side.ticks, 500u);
  EXPECT_THAT(diff_json(diff, {}), HasSubstr("\"old_place\": \"/src/y.c:21\""));
  EXPECT_THAT(diff_text(diff, {}),
              HasSubstr("\nwarning: y: it is not of one build; lines are counted from the "
                        "start of their function; an added line moves those below\n"));
}

TEST(Diff, LinesThatCannotBeCountedFromAFunctionAreByNumber) {
  const Diff diff = diff_of_moved_lines({0, 500, 300, 200, 100}, {0, 500, 900, 200, 100});
  ASSERT_EQ(diff.rows.size(), 5u);
  EXPECT_EQ(row_of(diff, "/src/y.c:2").old_side.ticks, row_of(diff, "/src/y.c:2").new_side.ticks);
  EXPECT_EQ(row_of(diff, "/src/y.c:69").new_side.ticks, 0u);
  EXPECT_EQ(row_of(diff, "/src/y.c:72").old_side.ticks, 0u);
  EXPECT_THAT(diff_text(diff, {}),
              HasSubstr("\nwarning: y: it is not of one build; 2 lines are counted from the "
                        "start of a function, 3 from that of the file\n"));
}

// As where a source file was renamed: every row would be gone or new, without a word.
TEST(Diff, LinesWithoutACounterpartAreInDoubt) {
  EXPECT_THAT(diff_text(diff_of_moved_lines({0, 500}, {0, 0, 500}), {}),
              HasSubstr("\nwarning: y: it is not of one build; no function is on both sides: functions or "
                        "files may have other names\n"));
}

/// All code is one line.
class SymbolizerOfOneLine : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    auto all = FakeSymbolizer::find_frames(positions);
    for (auto& frames : all)
      for (Frame& frame : frames) frame.line = 7;
    return all;
  }
};

TEST(Diff, ALineOfTwoInstancesOfATemplateIsOneRow) {
  const Profile run = run_of({0, 500, 300}, {1}, "/bin/cxx");  // put<int> and put<long>
  const auto open = [](const ExecutableIdentity& identity) {
    return std::make_unique<SymbolizerOfOneLine>(identity);
  };
  const auto diff = make_diff({run}, {run}, open, {.by = Grouping::kLine});
  ASSERT_TRUE(diff);
  ASSERT_EQ(diff->rows.size(), 1u);
  EXPECT_EQ(diff->rows[0].name, "/src/cxx.c:7");
  EXPECT_EQ(diff->rows[0].old_side.ticks, 800u);
}

}  // namespace
}  // namespace pctally
