#include "profile/units.h"

#include <algorithm>

#include "tick/cell_tree.h"

namespace pctally {

Units::Units(uint64_t most_bytes, uint64_t expected_bytes)
    : most_bytes_(std::clamp(most_bytes, kHeaderBytes + kUnitBytes, kLargestMergedBytes)) {
  bytes_.reserve(std::min(most_bytes_, expected_bytes));  // growing would need twice the memory
  bytes_.resize(kHeaderBytes + kUnitBytes);
}

uint32_t Units::take(uint64_t count) {
  const uint32_t first = used();
  if (full_ || count > (most_bytes_ - bytes_.size()) / kUnitBytes) {
    full_ = true;
    return 1;
  }
  bytes_.resize(bytes_.size() + kUnitBytes * count);
  return first;
}

uint32_t Units::add_text(const std::string& text) {
  const StringRecord record{static_cast<uint32_t>(text.size())};
  const uint32_t unit = take(string_units(record.bytes));
  if (full_) return unit;
  unsigned char* bytes = at<unsigned char>(unit);
  memcpy(bytes, &record, sizeof record);
  std::copy(text.begin(), text.end(), bytes + sizeof record);
  return unit;
}

/// What slot `slot` of the 32-bit numbers from `unit` on leads to, taken now if there is nothing.
uint32_t Units::child(uint32_t unit, uint64_t slot, uint32_t units) {
  if (const uint32_t known = at<uint32_t>(unit)[slot]; known != 0) return known;
  const uint32_t taken = take(units);
  if (!full_) at<uint32_t>(unit)[slot] = taken;
  return taken;
}

void Units::add_cell(uint32_t directory, uint64_t index, uint64_t ticks) {
  if (full_) return;
  const uint32_t block = child(directory, index >> kDirectoryShift, kBlockUnits);
  const uint32_t leaf = full_ ? 0 : child(block, index >> kLeafShift & (kFanOut - 1), kLeafUnits);
  if (!full_) at<uint64_t>(leaf)[index & (kFanOut - 1)] += ticks;
}

Pool Units::pool() {
  head_ = {used(), used()};
  return {bytes_.data() + kHeaderBytes, &head_, used()};
}

}  // namespace pctally
