#include "object/dwarf/interval_map.h"

#include <algorithm>

namespace pctally {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

}  // namespace

void IntervalMap::add(AddressRange range, uint32_t id) {
  if (range.start < range.end && !is_full()) intervals_.push_back({range, id});
}

void IntervalMap::flatten() {
  std::ranges::stable_sort(intervals_, [](const Interval& a, const Interval& b) {
    return a.range.start != b.range.start ? a.range.start < b.range.start : a.range.end > b.range.end;
  });
  std::vector<Interval> open;  // the last is the innermost
  for (const Interval& interval : intervals_) {
    close_until(interval.range.start, &open);
    start_piece(interval.range.start, interval.id);
    open.push_back(interval);
  }
  close_until(UINT64_MAX, &open);
  intervals_ = {};
}

/// Ends the intervals that end at or before `address`; what is left of one further out shows again.
void IntervalMap::close_until(uint64_t address, std::vector<Interval>* open) {
  while (!open->empty() && open->back().range.end <= address) {
    const uint64_t end = open->back().range.end;
    while (!open->empty() && open->back().range.end <= end) open->pop_back();
    start_piece(end, open->empty() ? kNobody : open->back().id);
  }
}

void IntervalMap::start_piece(uint64_t start, uint32_t id) {
  if (!pieces_.empty() && pieces_.back().start == start) {
    pieces_.back().id = id;
  } else {
    pieces_.push_back({start, id});
  }
}

std::optional<uint32_t> IntervalMap::find(uint64_t address) const {
  const auto next = std::ranges::upper_bound(pieces_, address, {}, &Piece::start);
  if (next == pieces_.begin() || (next - 1)->id == kNobody) return {};
  return (next - 1)->id;
}

}  // namespace pctally
