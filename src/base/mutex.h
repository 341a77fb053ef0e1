// A lock with clang annotations: -Wthread-safety proves that guarded data is touched only under it. Other
// compilers ignore the annotations.
#pragma once
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "base/errno_kept.h"
#include "base/futex.h"

#ifdef __clang__
#define PCTALLY_ANNOTATION(attribute) __attribute__((attribute))
#else
#define PCTALLY_ANNOTATION(attribute)
#endif

#define CAPABILITY(name) PCTALLY_ANNOTATION(capability(name))
#define SCOPED_CAPABILITY PCTALLY_ANNOTATION(scoped_lockable)
/// A variable that is read and written under the lock only.
#define GUARDED_BY(lock) PCTALLY_ANNOTATION(guarded_by(lock))
/// A function that is called under the lock only; and one that takes it, gives it back, or must not be
/// called under it.
#define REQUIRES(lock) PCTALLY_ANNOTATION(requires_capability(lock))
#define ACQUIRE(...) PCTALLY_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) PCTALLY_ANNOTATION(release_capability(__VA_ARGS__))
#define EXCLUDES(lock) PCTALLY_ANNOTATION(locks_excluded(lock))
/// The exception; says at its place why.
#define NO_THREAD_SAFETY_ANALYSIS PCTALLY_ANNOTATION(no_thread_safety_analysis)

namespace pctally {

/// From here to the end of the block the thread is not cancelled. Our calls are no cancellation points; and
/// without exceptions a cancelled thread would run no destructor, and keep its locks and descriptors.
class NotCancelled {
 public:
  NotCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NotCancelled() { pthread_setcancelstate(before_, nullptr); }
  NotCancelled(const NotCancelled&) = delete;
  NotCancelled& operator=(const NotCancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// So many locks the thread is taking or giving back.
inline __thread unsigned t_changing_locks = 0;

/// For static storage: constant-initialised, never destroyed. From a handler only where the interrupted
/// thread cannot hold it. fork(2) waits for it where a ForkHook has it.
///
/// A futex of its own (U. Drepper, "Futexes Are Tricky", mutex2): a program may put a pthread_mutex_lock of
/// its own in front of the C library's, as ThreadSanitizer does, which fails where a thread ends.
class CAPABILITY("mutex") Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept ACQUIRE() {
    const Changing changing;
    uint32_t expected = kFree;
    if (!__atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      while (__atomic_exchange_n(&state_, kAwaited, __ATOMIC_ACQUIRE) != kFree) futex(FUTEX_WAIT, kAwaited);
    note_holder();
  }

  /// Async-signal-safe.
  bool try_lock() noexcept PCTALLY_ANNOTATION(try_acquire_capability(true)) {
    const Changing changing;
    uint32_t expected = kFree;
    if (!__atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return false;
    note_holder();
    return true;
  }

  void unlock() noexcept RELEASE() {
    const Changing changing;
    __atomic_store_n(&held_, false, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&state_, kFree, __ATOMIC_RELEASE) == kAwaited) futex(FUTEX_WAKE, 1);
  }

  /// True if the handler that asks may have interrupted the holder; also where the thread was about to take
  /// or to give back some lock, or waited for one. Async-signal-safe.
  [[nodiscard]] bool held_by_this_thread() const noexcept {
    if (t_changing_locks != 0) return true;
    return __atomic_load_n(&held_, __ATOMIC_ACQUIRE) &&
           pthread_equal(__atomic_load_n(&holder_, __ATOMIC_RELAXED), pthread_self()) != 0;
  }

  /// In the child of a fork(2): nobody holds it.
  void reset() noexcept {
    __atomic_store_n(&state_, kFree, __ATOMIC_RELAXED);
    __atomic_store_n(&held_, false, __ATOMIC_RELAXED);
  }

 private:
  static constexpr uint32_t kFree = 0, kTaken = 1, kAwaited = 2;  ///< the last: somebody may wait

  /// For handlers, which see what their own thread has stored in the order of the program.
  class Changing {
   public:
    Changing() noexcept { step(+1); }
    ~Changing() { step(-1); }
    Changing(const Changing&) = delete;
    Changing& operator=(const Changing&) = delete;

   private:
    static void step(int by) noexcept {
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      __atomic_store_n(&t_changing_locks, t_changing_locks + static_cast<unsigned>(by), __ATOMIC_RELAXED);
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
  };

  void note_holder() noexcept {
    __atomic_store_n(&holder_, pthread_self(), __ATOMIC_RELAXED);
    __atomic_store_n(&held_, true, __ATOMIC_RELEASE);
  }

  void futex(int operation, uint32_t value) noexcept {
    const ErrnoKept errno_kept;
    syscall(kFutex, &state_, operation | FUTEX_PRIVATE_FLAG, value, nullptr);
  }

  uint32_t state_ = kFree;
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
  NotCancelled not_cancelled_;
  Mutex& mutex_;
};

}  // namespace pctally
