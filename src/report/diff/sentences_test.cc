#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/diff/diff_for_test.h"
#include "report/diff/output.h"

namespace pctally {
namespace {

using ::testing::HasSubstr;

TEST(DiffSentences, OnlyRowsThatChangedAsTheWholeDidAreItsCause) {
  const Diff rose = diff_of({run_of({0, 1000, 5000})}, {run_of({0, 19000, 500})}),
             fell = diff_of({run_of({0, 19000, 500})}, {run_of({0, 1000, 5000})});
  ASSERT_EQ(rose.decided, 2u);
  EXPECT_EQ(cause_sentence(rose), "Main cause: f1, more by 18.0 s.");
  EXPECT_EQ(cause_sentence(fell), "Main cause: f1, less by 18.0 s.");
}

TEST(DiffSentences, WhatChangedTheOtherWayIsNamedBesideTheCause) {
  const auto cause = [](const std::vector<uint64_t>& before, const std::vector<uint64_t>& after) {
    return cause_sentence(diff_of({run_of(before)}, {run_of(after)}));
  };
  EXPECT_EQ(cause({0, 5000, 0, 9}, {0, 0, 30000, 9}), "Main cause: f2, more by 30.0 s.") << "it explains it";
  EXPECT_THAT(cause({0, 5000, 0}, {0, 0, 9000}), HasSubstr("f2, more by 9.00 s; but f1 is less by 5.00 s."));
  EXPECT_THAT(cause({0, 5000, 0, 2000}, {0, 0, 9000}),
              HasSubstr("f1 and another are less by 7.00 s together"));
}

TEST(DiffSentences, ANameIsShortenedWhereNoOtherLooksLikeIt) {
  Diff diff = diff_of({run_of({0, 1000, 5000})}, {run_of({0, 19000, 500})});
  const std::string first = "std::handler_of_the_first_kind_of_events::invoke",
                    other = "std::handler_of_the_other_kind_of_events::invoke";
  diff.rows[0].name = diff.rows[0].short_name = first;
  EXPECT_EQ(cause_sentence(diff).find(first), std::string::npos);
  diff.rows[1].name = diff.rows[1].short_name = other;
  EXPECT_THAT(cause_sentence(diff), HasSubstr(first));
}

}  // namespace
}  // namespace pctally
