// The recorder's cells: one 64-bit cell per byte of text, but only where text is hot.
//
//   directory            block (1 unit)         leaf (2 units)
//   u32 per 256 B  --->  u32 per 16 B  --->     u64 per byte
//
// Blocks and leaves are taken from the pool by the tick that needs them first; two racing ticks both take one
// and the loser's stays unused, which costs bytes and never a count.
#pragma once
#include "tick/pool.h"

namespace pctally {

inline constexpr unsigned kDirectoryShift = 8;  ///< text bytes per directory slot, log2
inline constexpr unsigned kLeafShift = 4;       ///< text bytes per leaf, log2
inline constexpr uint32_t kBlockUnits = 1;      ///< 16 x u32
inline constexpr uint32_t kLeafUnits = 2;       ///< 16 x u64
inline constexpr uint32_t kFanOut = 16;
inline constexpr unsigned kSlotShift = 4;  ///< slots per unit, log2

/// Units of a directory for `text_bytes` of text.
inline constexpr uint64_t directory_units(uint64_t text_bytes) noexcept {
  uint64_t slots = (text_bytes + (1u << kDirectoryShift) - 1) >> kDirectoryShift;
  return (slots * sizeof(uint32_t) + kUnitBytes - 1) / kUnitBytes;
}

/// The unit that `slot` leads to, taken now if there is none; 0 when the pool is used up (or the
/// slot was damaged).
inline uint32_t child_unit(const Pool& pool, uint32_t* slot, uint32_t units) noexcept {
  uint32_t unit = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (unit == 0) {
    uint32_t taken = pool_take(pool, units);
    if (taken == 0) return 0;
    if (__atomic_compare_exchange_n(slot, &unit, taken, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return taken;
  }
  return pool_holds(pool, unit, units) ? unit : 0;
}

/// The cell of byte `index` of the text whose directory starts at unit `directory`; null when the pool is
/// used up, and where the directory cannot be touched: none (0), damaged, or beyond what this process has
/// mapped. REQUIRES: the directory covers index. Any thread, signal handler or process.
inline uint64_t* tree_cell(const Pool& pool, uint32_t directory, uint64_t index) noexcept {
  uint64_t unit = directory + (index >> (kDirectoryShift + kSlotShift));
  if (directory == 0 || unit > UINT32_MAX || !pool_holds(pool, static_cast<uint32_t>(unit), 1))
    return nullptr;
  uint32_t* slot =
      pool_at<uint32_t>(pool, static_cast<uint32_t>(unit)) + ((index >> kDirectoryShift) & (kFanOut - 1));
  uint32_t block = child_unit(pool, slot, kBlockUnits);
  if (block == 0) return nullptr;
  uint32_t* line = pool_at<uint32_t>(pool, block) + ((index >> kLeafShift) & (kFanOut - 1));
  uint32_t leaf = child_unit(pool, line, kLeafUnits);
  return leaf == 0 ? nullptr : pool_at<uint64_t>(pool, leaf) + (index & (kFanOut - 1));
}

}  // namespace pctally
