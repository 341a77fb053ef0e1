// Which program a tick is of, by the kernel's numbers of images and the records of execs.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "perf/process_tree.h"
#include "task/task_records_for_test.h"

namespace pctally {
namespace {

TEST_F(TaskRecordsTest, AnImageWhoseExecWasLostIsRead) {
  constexpr uint64_t kOld = 0x1000;
  const auto here = reinterpret_cast<uint64_t>(&getpid);
  for (const bool has_passed : {false, true}) {
    file_.header().paths = 0;
    use(TaskTable::Unknown::kAdopt);
    keep(ScopeKind::kProgram);
    exec(getpid(), "before");
    map(getpid(), kOld, "/bin/before");
    tasks_.expect_image(getpid(), 5, false, false);
    EXPECT_TRUE(count_in(getpid(), getpid(), kOld));
    exec(getpid(), "next");  // with a record: what is known of it stays
    map(getpid(), kOld, "/bin/next");
    tasks_.expect_image(getpid(), 5, true, false);  // a tick in the kernel, in the middle of exec
    tasks_.expect_image(getpid(), 6, false, false);
    EXPECT_TRUE(count_in(getpid(), getpid(), kOld));
    const auto before = scopes();
    tasks_.expect_image(getpid(), 7, false, has_passed);
    EXPECT_TRUE(count_in(getpid(), getpid(), kOld));
    EXPECT_TRUE(count_in(getpid(), getpid(), here));
    for (const auto& [scope, ticks] : before) EXPECT_EQ(scopes()[scope], ticks) << scope;
  }
}

/// Ticks with numbers of images, "k" in the kernel, and records of execs ("exec") of our own process: whether
/// what it has mapped was read, as after an exec whose record was lost.
class TaskImagesTest : public TaskRecordsTest {
 protected:
  bool is_read_after(const std::vector<std::string>& story) {
    use(TaskTable::Unknown::kAdopt);
    exec(getpid(), "program");
    for (const std::string& part : story) {
      if (part == "exec")
        exec(getpid(), "program");
      else
        tasks_.expect_image(getpid(), static_cast<uint32_t>(atoi(part.c_str())), part.ends_with('k'), false);
    }
    return process(getpid())->comm == comm_of(getpid());
  }
};

TEST_F(TaskImagesTest, ATickInTheMiddleOfAnExecHasTheNumberBefore) {
  EXPECT_FALSE(is_read_after({"5k", "6"})) << "the first tick there is";
  EXPECT_FALSE(is_read_after({"5k", "exec", "7"}));
  EXPECT_FALSE(is_read_after({"5k", "exec", "6k", "7"}));
  EXPECT_FALSE(is_read_after({"5", "exec", "5k", "6"}));
  EXPECT_FALSE(is_read_after({"5", "exec", "exec", "6k", "7"})) << "in the second of two";
  EXPECT_FALSE(is_read_after({"5", "exec", "exec", "exec", "7k", "8"}));
}

TEST_F(TaskImagesTest, AnExecWithoutARecordIsSeen) {
  EXPECT_TRUE(is_read_after({"5", "6"})) << "of that number, as its tick was the program's own";
  EXPECT_TRUE(is_read_after({"5k", "5k", "6"})) << "of that number, as there are two";
  EXPECT_TRUE(is_read_after({"5k", "6", "7"}));
  EXPECT_TRUE(is_read_after({"5", "exec", "7"}));
  EXPECT_TRUE(is_read_after({"5", "exec", "exec", "6k", "8"}));
  EXPECT_TRUE(is_read_after({"5", "exec", "exec", "6"})) << "the program's own tick is of no exec";
}

TEST_F(TaskImagesTest, AChildHasTheDoubtOfItsParent) {
  use(TaskTable::Unknown::kAdopt);
  exec(kPid, "program");
  tasks_.expect_image(kPid, 5, true, false);
  fork(kPid, getpid());
  exec(getpid(), "child");
  tasks_.expect_image(getpid(), 7, false, false);
  EXPECT_STREQ(process(getpid())->comm, "child");
}

}  // namespace
}  // namespace pctally
