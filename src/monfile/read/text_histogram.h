// A histogram of coarse counters over the text of one object, as mon.out and gmon.out hold it. Pure values.
#pragma once
#include <cstdint>
#include <vector>

namespace pctally {

/// Counter i stands for the i-th of counts.size() equal parts of [low, high), or for what a scale of profil
/// puts there; addresses as the linker gave them.
struct TextHistogram {
  uint64_t low = 0;
  uint64_t high = 0;
  std::vector<uint64_t> counts;
  uint64_t scale = 0;  ///< bytes of counters, two each, per 65536 bytes of text; 0: equal parts

  /// Where counter i begins, or, for i = counts.size(), where the last one ends: by a scale beyond `high`,
  /// where profil has counted, too.
  [[nodiscard]] uint64_t start(uint64_t i) const {
    using Wide = unsigned __int128;
    Wide distance =
        scale == 0 ? Wide{high - low} * i / counts.size() : (Wide{i} * 131072 + scale - 1) / scale;
    return distance < UINT64_MAX - low ? low + static_cast<uint64_t>(distance) : UINT64_MAX;
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
