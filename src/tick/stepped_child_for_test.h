// A child whose work is stopped after any instruction one likes, while the test looks at, or works on, the
// memory: all of it is shared, as a fork for each instruction would cost more than all else here. Every place
// where a signal, a kill or another process can come between is tried in turn, instead of hoped for.
#pragma once
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace pctally {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

class SteppedChild {
 public:
  static constexpr bool kSupported = true;

  /// The child stands right before `work`; there may be no other thread.
  template <class Work>
  explicit SteppedChild(const Work& work) : stack_(size_t{64} << 10) {
    Start<Work> start{&work, &done_};
    pid_ = clone(run<Work>, stack_.data() + stack_.size(), CLONE_VM | SIGCHLD, &start);
    waitpid(pid_, &status_, 0);
  }
  SteppedChild(const SteppedChild&) = delete;
  ~SteppedChild() {
    kill(pid_, SIGKILL);
    if (!gone()) waitpid(pid_, &status_, 0);
  }

  /// False where tracing is not permitted.
  [[nodiscard]] bool stands() const { return WIFSTOPPED(status_) && WSTOPSIG(status_) == SIGTRAP; }

  /// Lets the child execute one instruction; false once its work is done.
  bool step() { return go(PTRACE_SINGLESTEP) && !done_; }

  /// Lets it do the rest of its work; false if that came to a bad end.
  bool finish() { return done_ || (go(PTRACE_CONT) && done_); }

 private:
  template <class Work>
  struct Start {
    const Work* work;
    volatile bool* done;
  };
  /// Has its own copy of `start`, whose time ends when the child has stopped at first.
  template <class Work>
  static int run(void* start) {
    volatile bool* done = static_cast<Start<Work>*>(start)->done;
    const Work work = *static_cast<Start<Work>*>(start)->work;
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    asm volatile("int3");
    work();
    *done = true;
    for (;;) asm volatile("int3");
  }
  [[nodiscard]] bool gone() const { return WIFEXITED(status_) || WIFSIGNALED(status_); }
  bool go(__ptrace_request how) {
    if (!stands()) return false;
    ptrace(how, pid_, nullptr, nullptr);
    waitpid(pid_, &status_, 0);
    return stands();
  }

  std::vector<char> stack_;
  volatile bool done_ = false;
  pid_t pid_ = 0;
  int status_ = 0;
};

#else  // Elsewhere a single step may lose the reservation of a load-exclusive, whose loop would then never
       // end. Sanitizers only add instructions of their own to step through.

class SteppedChild {
 public:
  static constexpr bool kSupported = false;
  template <class Work>
  explicit SteppedChild(Work) {}
  static bool stands() { return false; }
  static bool step() { return false; }
  static bool finish() { return false; }
};

#endif

/// Runs `one_case(k)`, which lets a child do k instructions of its work, for k = 0, 1, 2, ... until it
/// returns false: the work has no more than k instructions.
template <class OneCase>
void for_every_instruction(OneCase one_case) {
  constexpr unsigned kMost = 2000;
  unsigned k = 0;
  while (k < kMost && one_case(k) && !testing::Test::HasFatalFailure()) ++k;
  EXPECT_GT(k, 3u) << "the child was never stopped";
  EXPECT_LT(k, kMost) << "the child never came to an end";
}

inline bool tracing_permitted() {
  return SteppedChild::kSupported && SteppedChild([] {}).stands();
}

}  // namespace pctally
