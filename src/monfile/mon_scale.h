// The scale by which monitor(3C) divides its text, which mon.out does not hold: its reader computes it again.
#pragma once
#include <stdint.h>

namespace pctally {

inline constexpr uint64_t kMonOneToOne = 0x10000;  ///< a counter of two bytes for every two bytes of text

/// Bytes of counters per 65536 bytes of text, rounded down: the counters cover all of the text, and may reach
/// beyond. At most one to one.
constexpr uint64_t mon_scale(uint64_t counters, uint64_t text_bytes) noexcept {
  uint64_t words = text_bytes / 2 + text_bytes % 2;
  if (counters >= words) return kMonOneToOne;
  bool narrow = counters >> 48 == 0;  // no machine has more, but a caller or a file may say so
  return narrow ? (counters << 16) / words : counters / (words >> 16);
}

}  // namespace pctally
