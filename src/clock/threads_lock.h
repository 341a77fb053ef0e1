// Takes g_threads in a thread of the program, in which no handler of the program's runs until the lock is
// given back. A handler could end the thread (pthread_exit, a long jump), and the lock would be held for
// ever; or it could end the process by exit(3), which waits for the lock.
#pragma once
#include <signal.h>

#include "base/mutex.h"
#include "clock/thread_record.h"

namespace pctally {

/// From here to the end of the block the calling thread blocks all signals, those of the C library too; but
/// our ticks come. Does nothing behind a seccomp filter.
class HandlersBlocked {
 public:
  HandlersBlocked() noexcept;
  ~HandlersBlocked();
  HandlersBlocked(const HandlersBlocked&) = delete;
  HandlersBlocked& operator=(const HandlersBlocked&) = delete;

 private:
  static constexpr unsigned kWords = _NSIG / 8 / sizeof(unsigned long);
  unsigned long before_[kWords];  // as the kernel has it: sigset_t of the C library leaves out its own
  bool blocked_;
};

/// Holds it from here to the end of the block.
class SCOPED_CAPABILITY ThreadsLock {
 public:
  // Its member is the lock.
  ThreadsLock() noexcept ACQUIRE(g_threads) NO_THREAD_SAFETY_ANALYSIS : lock_(g_threads) {}
  ~ThreadsLock() RELEASE() NO_THREAD_SAFETY_ANALYSIS = default;
  ThreadsLock(const ThreadsLock&) = delete;
  ThreadsLock& operator=(const ThreadsLock&) = delete;

 private:
  HandlersBlocked blocked_;
  MutexLock lock_;
};

}  // namespace pctally
