// What has to happen around fork(2), known before any thread can hold a lock of ours.
//
//  1. A hook is a static object: it is there when the library has been loaded. Were it made by the first call
//     that takes its lock, a fork in the middle of that call would give the child a lock nobody gives back.
//  2. fork(2) runs `before` from the lowest rank up and the others from the highest down. So a lock that is
//     taken while another one is held has the higher rank.
#pragma once

namespace pctally {

class ForkHook {
 public:
  static constexpr unsigned kRanks = 8;

  /// One per rank. Any of the three may be null. They run whether or not the lock was ever used.
  ForkHook(unsigned rank, void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;
  ForkHook(const ForkHook&) = delete;
  ForkHook& operator=(const ForkHook&) = delete;
};

}  // namespace pctally
