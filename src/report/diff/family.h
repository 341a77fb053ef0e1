// The tests of one comparison, which are judged together.
#pragma once
#include <cstddef>

namespace pctally {

inline constexpr double kDiffRate = 0.05;  ///< of the rows called changed, how many may be wrong, on average

enum class Judged {
  kWhole,  ///< the total of all
  kRow,    ///< a row's own amount
  kTotal,  ///< a row with all it calls
};

struct Family {
  size_t rows = 0, totals = 0;  ///< that are judged beside the whole

  /// The part of the rate of errors that one test bears. The whole has half of it; own amounts and totals
  /// share the other half evenly, if there are both, and among themselves.
  [[nodiscard]] double part_of(Judged judged) const;
  /// The p-value that decides such a test, if no other is decided.
  [[nodiscard]] double level_of(Judged judged) const { return kDiffRate * part_of(judged); }
  [[nodiscard]] size_t size() const { return 1 + rows + totals; }
};

}  // namespace pctally
