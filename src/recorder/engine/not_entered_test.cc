#include "recorder/engine/not_entered.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "histfile/fresh_file_for_test.h"

namespace pctally {
namespace {

/// sleep(1), copied to a place that makes it a program of valgrind's; it has been executed.
class Emulated {
 public:
  explicit Emulated(const FreshFile& fresh) {
    const std::string directory = fresh.beside("valgrind"), program = directory + "/sleep";
    std::filesystem::create_directory(directory);
    std::filesystem::copy_file("/bin/sleep", program);
    int executed[2];
    EXPECT_EQ(pipe2(executed, O_CLOEXEC), 0);
    pid_ = fork();
    if (pid_ == 0) {
      execl(program.c_str(), "sleep", "1000", nullptr);
      _exit(127);
    }
    close(executed[1]);
    char byte;
    EXPECT_EQ(read(executed[0], &byte, 1), 0);
    close(executed[0]);
  }
  Emulated(const Emulated&) = delete;
  Emulated& operator=(const Emulated&) = delete;
  ~Emulated() { waitpid(pid_, nullptr, 0); }
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

TEST(NotEntered, AProcessThatEndsBeforeItsRowKeepsTheReasonSeenBefore) {
  FreshFile fresh;
  Emulated program(fresh);
  NotEntered not_entered(&fresh.file(), program.pid());
  not_entered.poll();
  EXPECT_EQ(fresh.process(program.pid()), nullptr) << "it may be entered yet";
  program.end();
  not_entered.poll();
  ASSERT_NE(fresh.process(program.pid()), nullptr);
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kEmulated);
}

TEST(NotEntered, AProcessThatEndsAfterItsRowKeepsItsReason) {
  FreshFile fresh;
  Emulated program(fresh);
  NotEntered not_entered(&fresh.file(), program.pid());
  not_entered.poll();
  not_entered.poll();
  program.end();
  not_entered.poll();
  not_entered.end();
  ASSERT_NE(fresh.process(program.pid()), nullptr);
  EXPECT_EQ(fresh.process(program.pid())->note, ProcessNote::kEmulated);
}

}  // namespace
}  // namespace pctally
