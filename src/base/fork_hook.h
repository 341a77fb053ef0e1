// Registers a lock with fork(2), before any thread can hold it.
//
//  1. A hook is a static object: it is there when the library has been loaded. Were it made by the first call
//     that takes its lock, a fork in the middle of that call would give the child a lock nobody gives back.
//  2. fork(2) takes the locks in rank order and releases them in reverse: a lock taken under another has the
//     higher rank.
#pragma once
#include "base/mutex.h"

namespace pctally {

class ForkHook {
 public:
  static constexpr unsigned kRanks = 8;

  /// One per rank. In the child the lock is free when `in_child` is called (null: nothing is called).
  /// `in_child` must be async-signal-safe.
  ForkHook(unsigned rank, Mutex* lock, void (*in_child)()) noexcept;
  ForkHook(const ForkHook&) = delete;
  ForkHook& operator=(const ForkHook&) = delete;
};

}  // namespace pctally
