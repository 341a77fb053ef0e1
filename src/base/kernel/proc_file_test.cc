#include "base/kernel/proc_file.h"

#include <errno.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/time_ns.h"

namespace pctally {
namespace {

TEST(ProcFile, OwnStatAndThatByNumberAreOne) {
  prctl(PR_SET_NAME, "a) R 1 2 (b", 0, 0, 0);  // a name that looks like what follows it
  ProcStat own, numbered;
  ASSERT_TRUE(read_proc_stat(0, &own));
  ASSERT_TRUE(read_proc_stat(getpid(), &numbered));
  EXPECT_EQ(own.state, 'R');
  EXPECT_EQ(own.parent, getppid());
  EXPECT_EQ(own.threads, 1u);
  EXPECT_GT(own.started, 0u);
  EXPECT_EQ(own.started, numbered.started);
}

TEST(ProcFile, AProcessEndsWithItsLastThread) {
  ProcStat stat;
  for (const char state : {'R', 'S', 'D', 'T', 't', 'Z', 'X'}) {
    const bool ends = state == 'Z' || state == 'X';
    stat.state = state;
    for (const uint64_t threads : {0, 1, 2, 7}) {
      stat.threads = threads;
      EXPECT_EQ(stat.has_ended(), ends && threads < 2) << state << threads;
    }
  }
}

TEST(ProcFile, IsCutAndEndedByAZeroByte) {
  char text[5];
  memset(text, 'x', sizeof text);
  EXPECT_EQ(read_proc_file(0, "status", text, sizeof text), 4u);
  EXPECT_STREQ(text, "Name");
  EXPECT_EQ(read_proc_file(0, "no such file", text, sizeof text), 0u);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_STREQ(text, "");
}

TEST(ProcFile, TheNumberInsideIsTheLastOne) {
  EXPECT_EQ(parse_status("Name:\tx\nNSpid:\t21185\t12\t1\nNSpgid:\t7\n").inside, 1);
  EXPECT_EQ(parse_status("Name:\tx\nNSpid:\t42").inside, 42) << "cut";
  EXPECT_EQ(parse_status("Name:\tx\n").inside, 0) << "before Linux 4.1";
  ProcStatus own, thread;
  ASSERT_TRUE(read_proc_status(0, &own));
  ASSERT_TRUE(read_proc_status(0, &thread, getpid()));
  EXPECT_EQ(own.inside, getpid());
  EXPECT_EQ(thread.inside, getpid());
  EXPECT_FALSE(read_proc_status(0, &thread, 1 << 23));
}

TEST(ProcFile, FiltersAreCountedWhereTheKernelDoes) {
  EXPECT_EQ(parse_status("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t3\n").filters, 3u);
  EXPECT_EQ(parse_status("Name:\tx\nSeccomp:\t2\nSpeculation:\tno\n").filters, 2u) << "before Linux 5.9";
  EXPECT_EQ(parse_status("Name:\tx\nSeccomp:\t0\nSeccomp_filters:\t0\n").filters, 0u);
  EXPECT_EQ(parse_status("TracerPid:\t7\n").tracer, 0) << "the first line is the name";
  EXPECT_EQ(parse_status("Name:\tx\nTracerPid:\t7\n").tracer, 7);
}

TEST(ProcFile, UsersSignalsAndTheProcessOfAThread) {
  const ProcStatus status = parse_status(
      "Name:\tx\nTgid:\t7\nPid:\t9\nUid:\t0\t1000\t4294967294\t3\nGid:\t5\t5\t5\t5\nSigBlk:"
      "\t8000000000000001\n");
  EXPECT_EQ(status.group, 7);
  EXPECT_EQ(status.users[0], 0u);
  EXPECT_EQ(status.users[1], 1000u);
  EXPECT_EQ(status.users[2], 4294967294u);
  EXPECT_EQ(status.users[3], 3u);
  EXPECT_EQ(status.blocked, 0x8000000000000001u);
  ProcStatus own;
  ASSERT_TRUE(read_proc_status(0, &own));
  EXPECT_EQ(own.group, getpid());
  EXPECT_EQ(own.users[0], getuid());
  EXPECT_EQ(own.users[1], geteuid());
}

// Of a directory service, say: they stand in front of the signals and filters, and may take 700 KiB.
TEST(ProcFile, AUserMayHaveThousandsOfGroups) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to have groups";
  const pid_t child = fork();
  if (child == 0) {
    std::vector<gid_t> groups(3000);
    for (size_t i = 0; i < groups.size(); ++i) groups[i] = 1800200000u + static_cast<gid_t>(i);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    ProcStatus status;
    const bool done = setgroups(groups.size(), groups.data()) == 0 &&
                      sigprocmask(SIG_SETMASK, &blocked, nullptr) == 0 && read_proc_status(0, &status);
    _exit(done && status.group == getpid() && status.blocked == uint64_t{1} << (SIGUSR1 - 1) ? 0 : 1);
  }
  int end = 0;
  ASSERT_EQ(waitpid(child, &end, 0), child);
  EXPECT_EQ(end, 0);
}

TEST(ProcFile, AStartIsTheSameMomentByEveryClock) {
  ProcStat stat;
  ASSERT_TRUE(read_proc_stat(0, &stat));
  const uint64_t started = clock_ticks_to_ns(stat.started), found = start_ns(stat, CLOCK_BOOTTIME);
  EXPECT_LE(found, started);
  EXPECT_GT(found + kNsPerSecond, started);
  EXPECT_LE(start_ns(stat, CLOCK_MONOTONIC), monotonic_ns());
  EXPECT_GT(start_ns(stat, CLOCK_REALTIME), 1'700'000'000 * kNsPerSecond) << "2023";
}

TEST(ProcFile, TheMachineHasBeenIdleAndBusy) {
  const MachineTicks first = read_machine_ticks(), second = read_machine_ticks();
  EXPECT_GT(first.user + first.system, 0u);
  EXPECT_GE(second.user, first.user);
  EXPECT_GE(second.steal, first.steal);
}

TEST(ProcFile, AProcessThatIsGoneHasNone) {
  ProcStat stat;
  EXPECT_FALSE(read_proc_stat(1 << 23, &stat));
}

}  // namespace
}  // namespace pctally
