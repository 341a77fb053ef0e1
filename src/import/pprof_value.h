// Which of the values of a pprof file is read, and what it counts.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "import/stack_sum.h"

namespace pctally {

/// A kind of value: "cpu" and "nanoseconds", "inuse_space" and "bytes".
struct PprofType {
  std::string_view type, unit;
};

struct PprofValue {
  static constexpr size_t kNone = SIZE_MAX;

  size_t number = 0;       ///< of the kind that is read
  uint64_t scale = 1;      ///< from its unit to that of the profile
  size_t samples = kNone;  ///< number of the kind that counts the samples
  uint64_t period = 0;     ///< where none does: amount of one sample, in the profile's unit; 0: not known
  ImportedUnit unit;
};

/// The kind that is wanted; or, of those that are in `used`, the usual one or else the last, as go tool pprof
/// takes them. Fails where there is none that is called as wanted. `types`: one at least.
Result<PprofValue> choose_pprof_value(std::span<const PprofType> types, const std::vector<bool>& used,
                                      std::string_view wanted, std::string_view usual,
                                      const PprofType& period_type, int64_t period);

}  // namespace pctally
