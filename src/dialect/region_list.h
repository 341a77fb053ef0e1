// The regions of one call with many ranges, in the order a session wants them.
#pragma once
#include "base/mapped_array.h"
#include "tick/region.h"

namespace pctally {

/// Lives for one call. Keeps the regions ascending by low; of two with the same low the one added first
/// stands last, which is where the search looks first.
class RegionList {
 public:
  /// False when memory is refused.
  [[nodiscard]] bool add(const Region& region) noexcept {
    size_t at = regions_.size();
    while (at > 0 && regions_[at - 1].low >= region.low) --at;
    return regions_.insert(at, region);
  }
  [[nodiscard]] std::span<const Region> all() const noexcept { return {regions_.data(), regions_.size()}; }

 private:
  MappedArray<Region> regions_;
};

}  // namespace pctally
