#include "report/missing_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

auto is_note(const char* text) {
  return AllOf(Field(&Warning::severity, Severity::kNote), Field(&Warning::text, HasSubstr(text)));
}

Profile profile_of_1000_ticks() {
  Profile profile;
  profile.ledger.counted = 1000;
  return profile;
}

TEST(MissingNames, ObjectsWithoutNames) {
  Profile profile = profile_of_1000_ticks();
  profile.executables = {{ExecutableKind::kFile, "/lib/stripped.so", {}, 0},
                         {ExecutableKind::kFile, "/bin/a", {}, 0}};
  profile.positions = {{0, 1, 100}, {1, 1, 900}};
  ObjectNames names(profile, FakeSymbolizer::open);
  std::vector<Warning> found;
  add_missing_names(profile, names, false, &found);
  EXPECT_THAT(found, ElementsAre(is_note("stripped.so has no names (10.0 % of the ticks): it is stripped")));
}

TEST(MissingNames, ManyObjectsForOneReasonAreOneNote) {
  Profile profile = profile_of_1000_ticks();
  for (uint32_t i = 0; i < 60; ++i) {
    profile.executables.push_back({ExecutableKind::kFile, "/lib/stripped.so", {}, 0});
    profile.positions.push_back({i, 1, i == 40 ? 20u : 10u});
  }
  profile.executables.push_back({ExecutableKind::kPrivate, "/lib/stripped.so", {}, 7});
  profile.positions.push_back({60, 1, 100});
  ObjectNames names(profile, FakeSymbolizer::open);
  std::vector<Warning> found;
  add_missing_names(profile, names, false, &found);
  EXPECT_THAT(
      found,
      ElementsAre(is_note("60 objects have no names (61.0 % of the ticks, the most in /lib/stripped.so"),
                  is_note("[jit] has no names (10.0 % of the ticks)")));
}

/// Erlang's JIT writes its code through another mapping of it.
TEST(MissingNames, CodeInMemoryOfAJitComesWithTheWayToItsNames) {
  Profile profile = profile_of_1000_ticks();
  profile.executables = {{ExecutableKind::kFile, "/memfd:vmem (deleted)", {}, 0},
                         {ExecutableKind::kFile, "/usr/lib/erlang/erts/bin/beam.smp", {}, 0}};
  profile.positions = {{0, 1, 500}, {1, 1, 500}};
  ObjectNames names(profile, [](const ExecutableIdentity& identity) -> std::unique_ptr<Symbolizer> {
    if (identity.path.starts_with("/memfd:")) return FakeSymbolizer::open({.path = "/lib/stripped.so"});
    return FakeSymbolizer::open(identity);
  });
  std::vector<Warning> found;
  add_missing_names(profile, names, false, &found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].text.ends_with("; ERL_FLAGS='+JPperf true' names it")) << found[0].text;
}

/// Its functions have names, as those that a profile brings along.
class WithoutLines : public FakeSymbolizer {
 public:
  using FakeSymbolizer::FakeSymbolizer;
  static std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity) {
    return std::make_unique<WithoutLines>(identity);
  }
  [[nodiscard]] const std::string& line_problem() const override { return line_problem_; }
  /// Lines up to 0x1000.
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    std::vector<std::vector<Frame>> all = FakeSymbolizer::find_frames(positions);
    for (size_t i = 0; i < all.size(); ++i)
      if (positions[i] >= 0x1000) all[i].clear();
    return all;
  }

 private:
  std::string line_problem_ = "no line information";
};

TEST(MissingNames, ObjectsWithNamesAndWithoutLines) {
  Profile profile = profile_of_1000_ticks();
  profile.executables = {{ExecutableKind::kFile, "/bin/a", {}, 0}};
  profile.positions = {{0, 0x1000, 1000}};
  ObjectNames names(profile, WithoutLines::open);
  std::vector<Warning> found;
  add_missing_names(profile, names, false, &found);
  EXPECT_THAT(found, IsEmpty());  // lines are not shown: nothing is missed
  add_missing_names(profile, names, true, &found);
  ASSERT_THAT(found, ElementsAre(is_note("a has no lines (100.0 % of the ticks): no line info")));
  EXPECT_STREQ(found[0].id, "no-lines");
}

TEST(MissingNames, LinesThatAreMissingInPartCountNoTickThatHasOne) {
  Profile profile = profile_of_1000_ticks();
  profile.executables = {{ExecutableKind::kFile, "/bin/a", {}, 0}};
  profile.positions = {{0, 1, 917}, {0, 0x1000, 83}};
  ObjectNames names(profile, WithoutLines::open);
  std::vector<Warning> found;
  add_missing_names(profile, names, true, &found);
  EXPECT_THAT(found,
              ElementsAre(is_note("a has lines only in part (none for 8.3 % of the ticks): no line info")));
  found.clear();
  profile.positions = {{0, 1, 1000}};
  add_missing_names(profile, names, true, &found);
  EXPECT_THAT(found,
              ElementsAre(is_note("a has no inlined functions (up to 100.0 % of the ticks): no line info")));
  found.clear();
  profile.positions = {{0, 1, 996}, {0, 0x1000, 4}};
  add_missing_names(profile, names, true, &found);
  EXPECT_THAT(found, IsEmpty());
}

TEST(MissingNames, CodeMadeAtRunTimeWithoutNamesSaysWhatItsRuntimeWants) {
  Profile profile = profile_of_1000_ticks();
  profile.executables = {{ExecutableKind::kPrivate, "/lib/stripped.so", {}, 7},
                         {ExecutableKind::kFile, "/bin/node", {}, 0}};
  profile.positions = {{0, 1, 900}, {1, 1, 100}};
  ObjectNames names(profile, FakeSymbolizer::open);
  std::vector<Warning> found;
  add_missing_names(profile, names, false, &found);
  EXPECT_THAT(found, ElementsAre(is_note("; node --perf-basic-prof names it")));
}

}  // namespace
}  // namespace pctally
