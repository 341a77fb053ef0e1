#include "recorder/engine/not_entered.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "histfile/chain.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/injection.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

/// sleep(1), copied to a directory of this name, with one variable in its environment; it has been executed.
class SleepProgram {
 public:
  SleepProgram(const FreshFile& fresh, const char* name, std::string variable) {
    const std::string directory = fresh.beside(name), program = directory + "/sleep";
    std::filesystem::create_directories(directory);
    std::filesystem::copy_file("/bin/sleep", program);
    char* const environment[] = {variable.data(), nullptr};
    int executed[2];
    EXPECT_EQ(pipe2(executed, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      execle(program.c_str(), "sleep", "1000", nullptr, environment);
      _exit(127);
    }
    close(executed[1]);
    char byte;
    EXPECT_EQ(read(executed[0], &byte, 1), 0);
    close(executed[0]);
  }
  SleepProgram(const SleepProgram&) = delete;
  SleepProgram& operator=(const SleepProgram&) = delete;
  ~SleepProgram() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// It has ended, and nobody has asked for its status yet.
  void end() const {
    siginfo_t ended;
    kill(pid_, SIGKILL);
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT), 0);
  }

 private:
  pid_t pid_;
};

/// As a child of the command has it.
std::string given(FreshFile& fresh) {
  return std::string(kIdVariable) + "=" + fresh.file().recording_id().text;
}

// Its tool is static: nothing enters it, and the program may end soon.
TEST(NotEntered, ValgrindIsNamedAtFirstSight) {
  FreshFile fresh;
  SleepProgram program(fresh, "valgrind", given(fresh));
  NotEntered not_entered(&fresh.file(), program.pid());
  not_entered.poll();
  ASSERT_NE(fresh.process(program.pid()), nullptr);
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kEmulated);
  program.end();
  not_entered.poll();
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kEmulated);
}

TEST(NotEntered, AProcessThatEndsAfterItsRowKeepsItsReason) {
  FreshFile fresh;
  SleepProgram program(fresh, "valgrind", given(fresh));
  NotEntered not_entered(&fresh.file(), program.pid(), 0);
  not_entered.poll();
  not_entered.poll();
  program.end();
  not_entered.poll();
  not_entered.end();
  ASSERT_NE(fresh.process(program.pid()), nullptr);
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kEmulated);
}

TEST(NotEntered, WithoutTheRecordingInItsEnvironmentAProcessIsNamedAtFirstSight) {
  FreshFile fresh;
  SleepProgram program(fresh, "plain", "HOME=/");
  NotEntered not_entered(&fresh.file(), program.pid(), 0);
  not_entered.poll();
  ASSERT_NE(fresh.process(program.pid()), nullptr);
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kNotEntered);
}

// A reaper has it: here it is this process. What else a reaper's children are is not of the command.
TEST(NotEntered, AProcessWhoseParentHasEndedIsFoundByItsEnvironment) {
  FreshFile fresh;
  SleepProgram root(fresh, "root", given(fresh)), orphan(fresh, "valgrind2/valgrind", given(fresh)),
      other(fresh, "other", "HOME=/");
  NotEntered not_entered(&fresh.file(), root.pid(), 0);
  not_entered.poll();
  ASSERT_NE(fresh.process(orphan.pid()), nullptr);
  EXPECT_EQ(fresh.process(orphan.pid())->note, ProcessNote::kEmulated);
  not_entered.poll();
  EXPECT_EQ(fresh.process(other.pid()), nullptr);
}

TEST(NotEntered, WhatWasNamedAtFirstSightIsTakenBackWhereTheLibraryCameAfterAll) {
  FreshFile fresh;
  SleepProgram program(fresh, "plain", "HOME=/");
  NotEntered not_entered(&fresh.file(), program.pid(), 0);
  not_entered.poll();
  const ProcessRecord* row = fresh.process(program.pid());
  ASSERT_NE(row, nullptr);
  ASSERT_NE(add_process(fresh.file(), program.pid(), 0, "sleep", "timer"), 0u);
  not_entered.poll();
  EXPECT_EQ(row->note, ProcessNote::kNone);
  EXPECT_NE(row->flags & kProcessTakenBack, 0u);
  const uint32_t rows = fresh.file().header().process_count;
  for (int poll = 0; poll < 3; ++poll) not_entered.poll();
  EXPECT_EQ(fresh.file().header().process_count, rows) << "it has its row";
}

/// On a busy machine it waits long for its turn between the fork and the library's handler.
TEST(NotEntered, AForkedChildThatTheLibraryMetAfterTheLastPollIsTakenBack) {
  FreshFile fresh;
  const pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  NotEntered not_entered(&fresh.file(), child, 0);
  not_entered.poll();
  not_entered.poll();
  const ProcessRecord* row = fresh.process(child);
  EXPECT_NE(row, nullptr);
  if (row != nullptr) {
    EXPECT_EQ(row->note, ProcessNote::kUnseenFork);
    EXPECT_NE(add_process(fresh.file(), child, 0, comm_of(child), "timer"), 0u);
    not_entered.end();
    EXPECT_NE(row->flags & kProcessTakenBack, 0u);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

/// A child of vfork(2) has its parent's memory, and the recording in it, until it executes a program.
TEST(NotEntered, WhatLookedLikeAnUnseenForkIsTakenBackAtTheEnd) {
  FreshFile fresh;
  SleepProgram program(fresh, "plain", given(fresh));
  NotEntered not_entered(&fresh.file(), program.pid(), 0);
  not_entered.poll();
  not_entered.poll();
  const uint32_t unit = fresh.file().header().processes;
  auto* row = pool_at<ProcessRecord>(fresh.file().pool(), unit);
  ASSERT_EQ(row->pid, program.pid());
  row->note = ProcessNote::kUnseenFork;
  ASSERT_NE(add_process(fresh.file(), program.pid(), 0, "sleep", "timer"), 0u);
  not_entered.end();
  EXPECT_EQ(row->note, ProcessNote::kNone);
}

}  // namespace
}  // namespace pctally
