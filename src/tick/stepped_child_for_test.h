// A forked child whose work is stopped after any instruction one likes, while the test looks at, or works on,
// the memory it shares with the child. Every place where a signal, a kill or another process can come between
// is tried in turn, instead of hoped for.
#pragma once
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tick/guarded_pool_for_test.h"

namespace pctally {

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

class SteppedChild {
 public:
  static constexpr bool kSupported = true;

  /// The child stands right before `work`; there may be no other thread.
  template <class Work>
  explicit SteppedChild(Work work) : memory_(1) {
    pid_ = fork();
    if (pid_ == 0) {
      if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
      asm volatile("int3");
      work();
      *done() = 1;
      for (;;) asm volatile("int3");
    }
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
  bool step() { return go(PTRACE_SINGLESTEP) && *done() == 0; }

  /// Lets it do the rest of its work; false if that came to a bad end.
  bool finish() { return *done() != 0 || (go(PTRACE_CONT) && *done() != 0); }

 private:
  volatile unsigned char* done() { return memory_.data(); }
  [[nodiscard]] bool gone() const { return WIFEXITED(status_) || WIFSIGNALED(status_); }
  bool go(__ptrace_request how) {
    if (!stands()) return false;
    ptrace(how, pid_, nullptr, nullptr);
    waitpid(pid_, &status_, 0);
    return stands();
  }

  SharedMemory memory_;
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
