// A histogram of coarse counters over the text of one object, as mon.out and gmon.out hold it. Pure values.
#pragma once
#include <cstdint>
#include <vector>

namespace pctally {

/// Counter i stands for the i-th of counts.size() equal parts of [low, high), addresses as the
/// linker gave them.
struct TextHistogram {
  uint64_t low = 0;
  uint64_t high = 0;
  std::vector<uint64_t> counts;

  /// Where counter i begins, or, for i = counts.size(), where the last one ends.
  [[nodiscard]] uint64_t start(uint64_t i) const {
    return low + static_cast<uint64_t>(static_cast<unsigned __int128>(high - low) * i / counts.size());
  }
};

struct CallCount {
  uint64_t address = 0;  ///< in the function
  uint64_t calls = 0;
};

/// What one data file says.
struct TextProfile {
  std::vector<TextHistogram> histograms;
  std::vector<CallCount> calls;
  double seconds_per_tick = 0;  ///< 0 if the file does not say
};

}  // namespace pctally
