#include "bpf/unwind_tables.h"

#include <gtest/gtest.h>

#include <memory>

#include "bpf/unwind_lookup_for_test.h"

namespace pctally {
namespace {

UnwindRule by_stack(int16_t words) {
  UnwindRule rule;
  rule.cfa = CfaKind::kStack;
  rule.cfa_words = words;
  return rule;
}

class RuleTablesTest : public testing::Test {
 protected:
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(PCTALLY_RULE_BYTES);
  RuleTables tables_{memory_.data()};
};

TEST_F(RuleTablesTest, EveryPositionHasTheRuleOfTheRowBefore) {
  const std::vector<UnwindRow> rows = {{0, {}},      {0x1100, by_stack(1)}, {0x1101, by_stack(-2)},
                                       {0x1fff, {}}, {0x2000, by_stack(3)}, {0x9000, by_stack(1)},
                                       {0x9001, {}}};
  const uint32_t table = tables_.add(rows);
  ASSERT_GT(table, 1u);
  size_t row = 0;
  for (uint64_t at = 0; at < 0xb000; ++at) {
    while (row + 1 < rows.size() && rows[row + 1].position <= at) ++row;
    EXPECT_EQ(find_rule_in(memory_.data(), table, at), rows[row].rule) << at;
  }
}

TEST_F(RuleTablesTest, TablesLieOneBehindTheOther) {
  const uint32_t first = tables_.add(std::vector<UnwindRow>{{0x1000, by_stack(1)}, {0x1010, {}}});
  const uint32_t second = tables_.add(std::vector<UnwindRow>{{0x1000, by_stack(2)}, {0x1010, {}}});
  EXPECT_EQ(find_rule_in(memory_.data(), first, 0x1004), by_stack(1));
  EXPECT_EQ(find_rule_in(memory_.data(), second, 0x1004), by_stack(2));
}

TEST_F(RuleTablesTest, CodeWithoutRulesNeedsNoTable) {
  const size_t before = tables_.used();
  EXPECT_EQ(tables_.add({}), static_cast<uint32_t>(PCTALLY_TABLE_NONE));
  EXPECT_EQ(tables_.add(std::vector<UnwindRow>{{0, {}}}), static_cast<uint32_t>(PCTALLY_TABLE_NONE));
  EXPECT_EQ(tables_.used(), before);
}

TEST_F(RuleTablesTest, WhatFindsNoRoomIsUnknown) {
  std::vector<UnwindRow> rows;
  for (uint64_t i = 0; i < PCTALLY_RULE_BYTES / 8; ++i) rows.push_back({i, by_stack(i % 2 == 0 ? 1 : 2)});
  EXPECT_GT(tables_.add(rows), 1u);
  EXPECT_EQ(tables_.add(rows), static_cast<uint32_t>(PCTALLY_TABLE_UNKNOWN));
  EXPECT_GT(tables_.add(std::span(rows).first(1000)), 1u) << "a smaller one has room";
  EXPECT_LE(tables_.used(), static_cast<size_t>(PCTALLY_RULE_BYTES));
}

class ProcessTablesTest : public testing::Test {
 protected:
  std::unique_ptr<pctally_process[]> memory_ = std::make_unique<pctally_process[]>(PCTALLY_PROCESSES);
  ProcessTables processes_{memory_.get()};
  std::vector<pctally_range> ranges_ = std::vector<pctally_range>(3);
};

TEST_F(ProcessTablesTest, ProcessesAreKnownUntilTheyAreForgotten) {
  EXPECT_FALSE(processes_.known(7));
  EXPECT_TRUE(processes_.set(7, 3, ranges_));
  EXPECT_EQ(processes_.known(7), 3u);
  EXPECT_TRUE(processes_.set(7, 4, ranges_));
  EXPECT_EQ(processes_.known(7), 4u);
  processes_.forget(7);
  EXPECT_FALSE(processes_.known(7));
}

TEST_F(ProcessTablesTest, WhatIsTheSameIsNotWrittenAgain) {
  EXPECT_TRUE(processes_.set(7, 3, ranges_));
  const auto written = [&] {
    uint64_t sum = 0;
    for (size_t i = 0; i < PCTALLY_PROCESSES; ++i) sum += memory_[i].version;
    return sum;
  };
  EXPECT_EQ(written(), 2u);
  EXPECT_FALSE(processes_.set(7, 3, ranges_));
  EXPECT_EQ(written(), 2u);
  ranges_[1].table = 64;
  EXPECT_TRUE(processes_.set(7, 3, ranges_));
  EXPECT_EQ(written(), 4u);
}

TEST_F(ProcessTablesTest, TicksLeftOutAreHandedOutWhenAProgramIsForgotten) {
  const auto leave_out = [&](uint32_t ticks) {
    for (size_t i = 0; i < PCTALLY_PROCESSES; ++i)
      if (memory_[i].tgid == 7) {
        memory_[i].owed = ticks;
        memory_[i].owed_tid = 8;
        memory_[i].owed_pc = 0x1234;
        memory_[i].paths = memory_[i].left_out = 5;
      }
  };
  processes_.set(7, 3, ranges_);
  leave_out(2);
  ranges_[1].table = 64;
  processes_.set(7, 3, ranges_);
  EXPECT_TRUE(processes_.take_left_out().empty()) << "of a program that goes on";
  processes_.set(7, 4, ranges_);  // it executed another
  const auto before = processes_.take_left_out();
  ASSERT_EQ(before.size(), 1u);
  EXPECT_EQ(before[0].pid, 7);
  EXPECT_EQ(before[0].tid, 8);
  EXPECT_EQ(before[0].pc, 0x1234u);
  EXPECT_EQ(before[0].ticks, 2u);
  EXPECT_TRUE(processes_.take_left_out().empty());
  leave_out(3);
  processes_.forget(7);
  EXPECT_EQ(processes_.take_left_out().at(0).ticks, 3u);
  processes_.set(7, 5, ranges_);
  for (size_t i = 0; i < PCTALLY_PROCESSES; ++i)
    EXPECT_EQ(memory_[i].paths + memory_[i].left_out, 0u) << "another one";
  processes_.forget(7);
  EXPECT_TRUE(processes_.take_left_out().empty());
}

TEST_F(ProcessTablesTest, MoreProcessesThanThereIsRoomForAreRefused) {
  int known = 0;
  for (pid_t pid = 1; pid <= 2 * PCTALLY_PROCESSES; ++pid) known += processes_.set(pid, 1, ranges_) ? 1 : 0;
  EXPECT_LE(known, static_cast<int>(PCTALLY_PROCESSES));
  EXPECT_GT(known, static_cast<int>(PCTALLY_PROCESSES) / 2);
  EXPECT_FALSE(processes_.set(0, 1, ranges_));
}

}  // namespace
}  // namespace pctally
