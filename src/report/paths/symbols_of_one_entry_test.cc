#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/one_unwind_entry_for_test.h"
#include "report/paths/edges_for_test.h"
#include "report/paths/path_profile_for_test.h"
#include "report/text.h"

namespace pctally {
namespace {

using testing::HasSubstr;

/// Callers and callees with their ranges, "f1 2..10".
std::string ranges(const std::vector<CallerRow>& list) {
  std::string text;
  for (const CallerRow& row : list)
    text += fmt::format("{} {}..{}, ", row.frame.function, row.ticks, row.high);
  return text;
}

Callers callers_in(const Profile& profile, const char* function, NamedPaths::Detail detail) {
  ObjectNames names(profile, &FakeSymbolizer::open);
  const NamedPaths named(profile, names, detail);
  expect_edges_of_callers(profile, named);
  const std::vector<StackFrame> found = find_functions(named, function);
  EXPECT_EQ(found.size(), 1u);
  return callers_of(profile, named, found.at(0));
}

/// f3 has 17 of the 25 ticks: 20 below f1, 5 below f4.
Profile with_two_callers() {
  Profile profile = two_symbols_of_one_entry(8, 17);
  PathTree& tree = profile.paths.context;
  tree.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = 0x410});
  const auto call = static_cast<uint32_t>(tree.size() - 1);
  tree.push_back({.parent = call, .kind = PathNodeKind::kCode, .position = 0x200, .self = 5});
  profile.ledger.counted = profile.ledger.samples = 25;
  return profile;
}

TEST(SymbolsOfOneEntry, HaveTheirOwnTicksAndTheOnlyCallersOfTheEntry) {
  const Callers callers = callers_in(two_symbols_of_one_entry(8, 12), "f3", NamedPaths::Detail::kLines);
  EXPECT_EQ(callers.ticks, 12u);
  EXPECT_EQ(callers.folded + callers.unplaced, 0u);
  EXPECT_EQ(ranges(callers.callers), "f1 12..12, ");
  EXPECT_EQ(ranges(callers.callees), "(itself) 12..12, ");
}

TEST(SymbolsOfOneEntry, HaveOfSeveralCallersWhatTheOtherSymbolsCannotHave) {
  const Profile profile = with_two_callers();
  const Callers callers = callers_in(profile, "f3", NamedPaths::Detail::kLines);
  EXPECT_EQ(callers.ticks, 17u);
  EXPECT_THAT(ranges(callers.callers), HasSubstr("f1 12..17, f4 0..5, "));
  const std::string text = callers_text(profile, callers, {});
  EXPECT_THAT(
      text, HasSubstr("its own ticks are of paths that end in \"f2, f3\": which of these ran is not known"));
  EXPECT_THAT(text, HasSubstr("\"x to y %\": paths of several symbols may hold more of these calls"));
}

TEST(SymbolsOfOneEntry, AreTheReasonForRangesWhereNothingIsFolded) {
  PathProfile paths;
  const uint32_t f1 = paths.add(0, 0x110);
  paths.add(paths.add(f1, 0x210), 0x500, 300);
  paths.profile.paths.context.push_back(
      {.parent = f1, .kind = PathNodeKind::kCode, .position = 0x200, .self = 700});
  paths.profile.positions = {{0, 0x220, 200}, {0, 0x320, 500}, {0, 0x500, 300}};
  paths.profile.ledger.counted = paths.profile.ledger.samples = 1000;
  paths.profile.ledger.weight_squares = 1000;
  const Report report = make_report(paths.profile, &FakeSymbolizer::open, {});
  EXPECT_THAT(text_report(paths.profile, report, {}),
              HasSubstr("total \"x to y %\": paths of several symbols may hold more of it\n"));
}

TEST(SymbolsOfOneEntry, HaveARangeInAChoice) {
  const Callers callers =
      callers_in(only_program_a(two_symbols_of_one_entry(8, 12)), "f3", NamedPaths::Detail::kLines);
  EXPECT_EQ(callers.ticks, 2u);  // 8 of the 10 may be f2's
  EXPECT_EQ(callers.unplaced, 8u);
  EXPECT_EQ(ranges(callers.callers), "f1 2..10, ");
}

TEST(SymbolsOfOneEntry, AreCalleesOfTheEntry) {
  const Callers callers = callers_in(two_symbols_of_one_entry(8, 12), "f2, f3", NamedPaths::Detail::kLines);
  EXPECT_EQ(callers.ticks, 20u);
  EXPECT_EQ(ranges(callers.callees), "f3 12..12, f2 8..8, ");
}

TEST(SymbolsOfOneEntry, MayBeAmongFoldedPaths) {
  Profile profile = with_two_callers();
  profile.paths.context[1].folded = 3;  // of 20 ticks below f1
  profile.paths.context[2].self = 7;
  PathTree& plane = profile.paths.plane;
  plane.push_back({.kind = PathNodeKind::kScope});
  plane.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = 0x100, .self = 20});
  plane.push_back({.parent = 0, .kind = PathNodeKind::kCode, .position = 0x200, .self = 25});
  const Callers callers = callers_in(profile, "f3", NamedPaths::Detail::kLines);
  EXPECT_GE(callers.ticks, 14u);
  EXPECT_LE(callers.ticks, 17u);
  EXPECT_GE(callers.ticks + callers.folded + callers.unplaced, 17u);
  EXPECT_LE(callers.ticks + callers.folded + callers.unplaced, 20u);
}

}  // namespace
}  // namespace pctally
