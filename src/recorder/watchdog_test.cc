#include "recorder/watchdog.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time_ns.h"
#include "recorder/exit_status.h"
#include "recorder/signals.h"
#include "tick/guarded_pool_for_test.h"

namespace pctally {
namespace {

constexpr unsigned kPatienceMs = 50;

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
      Watchdog::start(child, kPatienceMs);
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

/// Ctrl-Z, then kill %1: SIGTERM, and SIGCONT. The timer has run out meanwhile.
TEST(Watchdog, LeavesARecorderAloneThatWasStopped) {
  Hung recorder(0, [] {
    if (waiting_ending_signal() != 0) _exit(3);
    usleep(1000);
  });
  int status = 0;
  kill(recorder.pid(), SIGSTOP);
  EXPECT_EQ(waitpid(recorder.pid(), &status, WUNTRACED), recorder.pid());
  kill(recorder.pid(), SIGTERM);
  usleep(3 * kPatienceMs * 1000);
  kill(recorder.pid(), SIGCONT);
  EXPECT_EQ(WEXITSTATUS(recorder.end()), 3);
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

// A machine that holds the CPU in the midst of a turn makes that turn longer than the watchdog's patience.
// Then it was right to end the recorder, and another one is watched.
TEST(Watchdog, LeavesARecorderAloneThatTurns) {
  constexpr uint64_t kPatienceNs = uint64_t{kPatienceMs} * 1000000;
  SharedMemory shared(sizeof(uint64_t));
  auto* fed_ns = reinterpret_cast<volatile uint64_t*>(shared.data());
  int status = 0;
  uint64_t silent_ns = 0;
  do {
    *fed_ns = monotonic_ns();
    Hung recorder(0, [&, turns = 0]() mutable {
      *fed_ns = monotonic_ns();
      Watchdog::feed();
      usleep(5000);
      if (++turns == 60) _exit(3);  // six times its patience
    });
    kill(recorder.pid(), SIGTERM);
    status = recorder.end();
    silent_ns = monotonic_ns() - *fed_ns;
  } while (WEXITSTATUS(status) == kExitFailed && silent_ns >= kPatienceNs);
  EXPECT_EQ(WEXITSTATUS(status), 3) << "silent for " << silent_ns << " ns";
}

}  // namespace
}  // namespace pctally
