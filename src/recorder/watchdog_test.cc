#include "recorder/watchdog.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/exit_status.h"

namespace pctally {
namespace {

/// A recorder in a process of its own that reads no signals; says one byte when its watchdog is there.
class Hung {
 public:
  template <class Turn>
  explicit Hung(pid_t child, Turn&& turn) {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      sigset_t ending;
      sigemptyset(&ending);
      for (int signal : {SIGTERM, SIGINT}) sigaddset(&ending, signal);
      sigprocmask(SIG_BLOCK, &ending, nullptr);
      close(STDERR_FILENO);
      Watchdog::start(child, 50);
      (void)!write(ready[1], "x", 1);
      for (;;) turn();
    }
    char byte;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  int end() const {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  pid_t pid_;
};

TEST(Watchdog, EndsARecorderThatHangsByTheFirstSignal) {
#ifdef PCTALLY_SANITIZED
  GTEST_SKIP() << "the sanitizer ends the process with a status of its own";
#endif
  for (int signal : {SIGTERM, SIGINT}) {
    Hung recorder(0, [] {});
    kill(recorder.pid(), signal);
    EXPECT_EQ(WEXITSTATUS(recorder.end()), kExitFailed);
  }
}

TEST(Watchdog, PassesTheSignalOn) {
  pid_t child = fork();
  if (child == 0)
    for (;;) pause();
  Hung recorder(child, [] {});
  kill(recorder.pid(), SIGTERM);
  recorder.end();
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST(Watchdog, LeavesARecorderAloneThatTurns) {
  Hung recorder(0, [turns = 0]() mutable {
    Watchdog::feed();
    usleep(5000);
    if (++turns == 60) _exit(3);  // six times its patience
  });
  kill(recorder.pid(), SIGTERM);
  EXPECT_EQ(WEXITSTATUS(recorder.end()), 3);
}

}  // namespace
}  // namespace pctally
