// Tasks that the kernel's records do not tell apart by a number.
#include "perf/process_tree.h"
#include "task/task_records_for_test.h"

namespace pctally {
namespace {

TEST_F(TaskRecordsTest, TicksOfTasksWithoutANumberHaveARow) {
  use(TaskTable::Unknown::kAdopt);
  EXPECT_TRUE(tasks_.count(-1, UINT64_MAX - 0x1000, true, 1));
  EXPECT_TRUE(tasks_.count(-1, UINT64_MAX - 0x2000, true, 1));
  EXPECT_EQ(fresh_.by_comm()["(ending)"], 2u);
  EXPECT_EQ(process(-1), nullptr);
}

/// All have the number 0: the name of one that executes something, or ends, is not that of the others.
TEST_F(TaskRecordsTest, ProcessesOutsideThePidNamespaceKeepTheirRow) {
  use(TaskTable::Unknown::kAdopt);
  keep(ScopeKind::kThread);
  EXPECT_TRUE(count_in(0, 0, 0x1000));
  exec(0, "newest");
  rename(0, 0, "renamed");
  fork(0, 0);
  for (int i = 0; i < 3; ++i) exit(0);
  tasks_.resync();
  EXPECT_TRUE(count_in(0, 0, 0x1000));
  EXPECT_FALSE(tasks_.has_ended(0));
  const char* name = in_first_pid_namespace() ? "(idle)" : "(outside)";
  EXPECT_EQ(fresh_.by_comm(), (std::map<std::string, uint64_t>{{name, 2}}));
  EXPECT_EQ(scopes(), (std::map<std::string, uint64_t>{{" ", 2}})) << "no program and no name";
  fork(0, kChild);
  EXPECT_TRUE(tasks_.observes(kChild)) << "a process from outside may start one inside";
}

}  // namespace
}  // namespace pctally
