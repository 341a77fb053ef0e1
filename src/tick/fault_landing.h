// Continues a guarded access whose cell faults, on machines without a table of their instructions. The
// thread notes the place before it touches the cell; fault/fault_guard jumps there.
//
// A pointer per thread, at a fixed distance from the thread's own: no call, nothing allocated. Guarded
// accesses nest, as signal handlers do.
#pragma once
#include <stdint.h>

namespace pctally {

struct FaultLanding {
  void* place[5];  ///< as __builtin_setjmp fills it
  uintptr_t cell;
  FaultLanding* outer;

  /// True if a fault at `address` is this cell's: machines tell its first byte or a word around it.
  [[nodiscard]] bool covers(uintptr_t address) const noexcept { return (address ^ cell) < 8; }
};

inline constinit __thread FaultLanding* t_landing = nullptr;

/// A function of its own that the compiler may not inline: a caller without a call would not
/// expect a landing.
template <class Access>
[[gnu::noipa]] void touch(const Access& access) noexcept {
  access();
}

/// Does `access`, which touches `cell` and nothing else that may fault; false if it faulted.
template <class Access>
[[gnu::noinline]] bool land_if_faulted(const void* cell, Access access) noexcept {
  FaultLanding landing;
  landing.cell = reinterpret_cast<uintptr_t>(cell);
  landing.outer = t_landing;
  if (__builtin_setjmp(landing.place) != 0) {
    t_landing = landing.outer;
    return false;
  }
  t_landing = &landing;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  touch(access);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t_landing = landing.outer;
  return true;
}

}  // namespace pctally
