// Shares the ticks of the parts of a function among the paths that end in it: in proportion, in whole ticks,
// and so that the shares of each part add up to it, and those of each path.
#pragma once
#include <cstdint>
#include <vector>

namespace pctally {

class PartShares {
 public:
  struct Share {
    uint32_t part = 0;
    uint64_t ticks = 0;
  };
  explicit PartShares(std::vector<uint64_t> parts);

  /// So many ticks, or what is left: of each part in proportion to what is left of it, by largest remainder.
  /// Paths of many ticks come first, for the last ones get what the others have left.
  std::vector<Share> take(uint64_t ticks);
  /// The same of as few parts as there may be, the first ones that are left.
  std::vector<Share> take_of_few(uint64_t ticks);

 private:
  std::vector<Share> take_in_proportion(uint64_t ticks);
  std::vector<Share> take_in_order(uint64_t ticks);

  std::vector<uint64_t> left_;  ///< of each part
  uint64_t sum_ = 0;            ///< of these
  uint64_t visited_ = 0;        ///< parts so far, each as often as it was visited
  uint32_t first_ = 0;          ///< no part before has ticks left
};

}  // namespace pctally
