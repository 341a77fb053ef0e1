// A cell and what happens at its limit. Refuses to allocate, to lock and to call.
#pragma once
#include <stdint.h>

namespace pctally {

/// What a cell does when a tick would carry it past its limit.
enum class WhenFull : uint8_t {
  kSaturate,  ///< stays at the largest value of its width (HP-UX, AIX)
  kWrap,      ///< counts modulo its width (4.4BSD, N64: "There is no protection for counter overflow")
  kStop,      ///< unchanged, and the whole profile is turned off at 32767 (SVR4)
};

/// Where a tick went. Every tick has exactly one.
enum class TickOutcome : uint8_t { kCounted, kOutside, kFull, kStopped };

inline constexpr uint64_t kStopLimit =
    32767;  ///< SVR4: "Once one of the counts reaches 32767 ..., profiling stops"

/// Adds up to `weight` ticks to a cell of any width and returns how many it took; the rest found the cell
/// full. Sets *stop when the profile has to be turned off. Lock-free; any thread, signal handler or process
/// that maps it.
template <class Cell>
inline uint64_t add_to_cell(Cell* cell, uint64_t weight, WhenFull when_full, bool* stop) noexcept {
  constexpr Cell kLargest = static_cast<Cell>(~Cell{0});
  if (when_full == WhenFull::kWrap) {
    __atomic_fetch_add(cell, static_cast<Cell>(weight), __ATOMIC_RELAXED);
    return weight;
  }
  Cell old = __atomic_load_n(cell, __ATOMIC_RELAXED);
  for (;;) {
    uint64_t taken = weight;
    if (when_full == WhenFull::kStop) {
      // The SVR4 kernel adds in the cell's own width and then looks: a preset 65535 wraps to 0 and stays on.
      *stop = static_cast<Cell>(old + weight) > kStopLimit;
      if (*stop) return 0;
    } else if (weight > static_cast<uint64_t>(kLargest - old)) {
      taken = static_cast<uint64_t>(kLargest - old);
      if (taken == 0) return 0;
    }
    Cell sum = static_cast<Cell>(old + taken);
    if (__atomic_compare_exchange_n(cell, &old, sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return taken;
  }
}

}  // namespace pctally
