// A thread of ours in the program, for engines that have to look at its threads from time to time.
//
// It blocks all signals, never sleeps with a lock held, and does not keep a process alive whose own threads
// have all ended.
#pragma once
#include <pthread.h>
#include <stdint.h>

#include "base/result.h"

namespace pctally {

/// Calls on one under the caller's lock; none from a signal handler or from the thread's own work.
class SideThread {
 public:
  /// Does its work, and says after how many nanoseconds to call it again.
  using Work = uint64_t (*)(void* subject);

  /// Errors: EAGAIN (no more threads).
  Result<void> start(Work work, void* subject) noexcept;

  /// On return the work is not running and will not be called again.
  void stop() noexcept;

  /// In the child of a fork, where it does not exist.
  void forget() noexcept { running_ = false; }

  [[nodiscard]] bool running() const noexcept { return running_; }

 private:
  static void* main(void* self) noexcept;
  bool wait(uint64_t ns) noexcept;

  pthread_t thread_{};
  Work work_ = nullptr;
  void* subject_ = nullptr;
  uint32_t ended_ = 0;  ///< futex
  bool running_ = false;
};

}  // namespace pctally
