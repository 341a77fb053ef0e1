// Remembers the last tick that a thread handled. This distinguishes a perf signal that our own handler had
// blocked from one that the program had blocked.
#pragma once
#include <stdint.h>

namespace pctally {

/// A signal that waits for a handler to return is delivered before the program goes on: at the same place,
/// and with its frame where that of the handler was.
struct LastDelivery {
  const void* context;
  uint64_t pc;
};

extern __thread LastDelivery t_last_delivery;

/// At the end of a handler that blocks other ticks' signals. Async-signal-safe.
inline void note_delivery(const void* context, uint64_t pc) noexcept { t_last_delivery = {context, pc}; }

/// True if this signal has waited for our last handler to return. Only once: what comes later at the same
/// place has not waited for it.
inline bool follows_delivery(const void* context, uint64_t pc) noexcept {
  LastDelivery last = t_last_delivery;
  t_last_delivery = {};
  return last.context == context && last.pc == pc;
}

}  // namespace pctally
