// The lock of a call that a program makes: no handler of the program's runs in the thread that holds it. A
// handler could fork, or end the process by exit(3), and both wait for the lock; or make such a call itself.
//
// Faults, SIGSYS and the signals of our ticks do not wait.
#pragma once
#include <signal.h>

#include "base/mutex.h"

namespace pctally {

/// From here to the end of the block, signals that another process, a timer or a terminal sends wait.
class SignalsWait {
 public:
  SignalsWait() noexcept : waiting_(begin()) {}
  ~SignalsWait() { end(waiting_); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

  /// The same without a block: begin() returns the signals it has blocked, for end().
  [[nodiscard]] static sigset_t begin() noexcept;
  static void end(const sigset_t& waiting) noexcept;

  /// Takes out of a mask of the calling thread what these blocks have put into it: what is left the program
  /// has blocked. Async-signal-safe.
  static void leave_out_waiting(sigset_t* mask) noexcept;

 private:
  sigset_t waiting_;
};

/// Holds it from here to the end of the block.
class SCOPED_CAPABILITY CallLock {
 public:
  explicit CallLock(Mutex& mutex) noexcept ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~CallLock() RELEASE() { mutex_.unlock(); }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;

 private:
  NotCancelled not_cancelled_;
  SignalsWait signals_wait_;
  Mutex& mutex_;
};

}  // namespace pctally
