// A number of ticks that is known to lie between two ends.
#pragma once
#include <cstdint>

namespace pctally {

struct TickRange {
  uint64_t low = 0, high = 0;

  TickRange& operator+=(const TickRange& more) {
    low += more.low;
    high += more.high;
    return *this;
  }
};

}  // namespace pctally
