// A cell and what happens at its limit. Refuses to allocate, to lock and to call.
#pragma once
#include "tick/guarded_cell.h"

namespace pctally {

/// What a cell does when a tick would carry it past its limit.
enum class WhenFull : uint8_t {
  kSaturate,  ///< stays at the largest value of its width (HP-UX, AIX)
  kWrap,      ///< counts modulo its width (4.4BSD, N64: "There is no protection for counter overflow")
  kStop,      ///< takes what fits below 32767; reaching it turns the whole profile off (SVR4's page)
  kStopLate,  ///< the same, but the profile is turned off by the first tick that finds 32767 (illumos)
};

/// Where a tick went. Every tick has exactly one.
enum class TickOutcome : uint8_t { kCounted, kOutside, kFull, kStopped, kFaulted };

inline constexpr uint64_t kStopLimit =
    32767;  ///< SVR4: "Once one of the counts reaches 32767 ..., profiling stops"

/// What a tick met at a cell besides room.
struct CellEvent {
  bool stop = false;   ///< the profile has to be turned off
  bool fault = false;  ///< the cell's memory is gone or read-only; nothing was added
};

/// Adds up to `weight` ticks to a cell of any width and returns how many it took; the rest found the cell
/// full. Lock-free; any thread, signal handler or process that maps it.
template <class Cell>
inline uint64_t add_to_cell(Cell* cell, uint64_t weight, WhenFull when_full, CellEvent* event) noexcept {
  constexpr Cell kLargest = static_cast<Cell>(~Cell{0});
  Cell old{};
  event->fault = !guarded_load(cell, &old);
  while (!event->fault) {
    uint64_t taken = weight;
    if (when_full == WhenFull::kStop || when_full == WhenFull::kStopLate) {
      const uint64_t room = old < kStopLimit ? kStopLimit - old : 0;
      event->stop = when_full == WhenFull::kStop ? weight >= room : weight > room;
      if (weight > room) taken = room;
      if (taken == 0) return 0;
    } else if (when_full == WhenFull::kSaturate && weight > static_cast<uint64_t>(kLargest - old)) {
      taken = static_cast<uint64_t>(kLargest - old);
      if (taken == 0) return 0;
    }
    bool done = false;
    event->fault = !guarded_swap(cell, &old, static_cast<Cell>(old + taken), &done);
    if (done) return taken;
  }
  return 0;
}

}  // namespace pctally
