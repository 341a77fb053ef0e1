// Nested intervals of addresses, flattened once so that the innermost around an address is found
// by one search.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "object/elf/elf_file.h"

namespace pctally {

class IntervalMap {
 public:
  /// More than this are not kept: malformed tables can claim any number.
  static constexpr size_t kMostIntervals = 1 << 23;

  /// Where intervals have the same bounds, the one added last counts as the inner one.
  void add(AddressRange range, uint32_t id);
  /// Whether all from now on are lost.
  [[nodiscard]] bool is_full() const { return intervals_.size() >= kMostIntervals; }
  /// Call once, after all are added.
  void flatten();

  /// The interval around `address` that starts last, the shorter one of two that start together.
  [[nodiscard]] std::optional<uint32_t> find(uint64_t address) const;

 private:
  struct Interval {
    AddressRange range;
    uint32_t id = 0;
  };
  struct Piece {
    uint64_t start = 0;
    uint32_t id = 0;
  };
  void start_piece(uint64_t start, uint32_t id);
  void close_until(uint64_t address, std::vector<Interval>* open);

  std::vector<Interval> intervals_;
  std::vector<Piece> pieces_;
};

}  // namespace pctally
