// An action of the program's that a handler of ours stands in front of.
#pragma once
#include <signal.h>

namespace pctally {

/// Two, so that the one in use never changes while a handler reads it. All zero is the default action. set()
/// by one thread at a time.
struct DisplacedAction {
  struct sigaction actions[2];
  unsigned current;

  struct sigaction& action() noexcept {
    return actions[__atomic_load_n(&current, __ATOMIC_ACQUIRE)];
  }
  void set(const struct sigaction& action) noexcept {
    actions[1 - current] = action;
    __atomic_store_n(&current, 1 - current, __ATOMIC_RELEASE);
  }
};

}  // namespace pctally
