// A lock that clang knows as one: -Wthread-safety proves that what is GUARDED_BY() it is touched
// under it only.
#pragma once
#include <pthread.h>

#include "base/thread_annotations.h"

namespace pctally {

/// For static storage: constant-initialised, never destroyed. Not from a signal handler. fork(2) waits for it
/// where a ForkHook has it.
class CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept ACQUIRE() {
    pthread_mutex_lock(&mutex_);
    holder_ = pthread_self();
    __atomic_store_n(&held_, true, __ATOMIC_RELAXED);
  }

  void unlock() noexcept RELEASE() {
    __atomic_store_n(&held_, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&mutex_);
  }

  /// True if the handler that asks has interrupted the holder. Async-signal-safe.
  [[nodiscard]] bool held_by_this_thread() const noexcept {
    return __atomic_load_n(&held_, __ATOMIC_RELAXED) && pthread_equal(holder_, pthread_self()) != 0;
  }

  /// In the child of a fork(2): nobody holds it.
  void reset() noexcept {
    pthread_mutex_init(&mutex_, nullptr);
    __atomic_store_n(&held_, false, __ATOMIC_RELAXED);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_t holder_{};
  bool held_ = false;
};

/// Holds it from here to the end of the block.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) noexcept ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace pctally
