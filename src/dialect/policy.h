// Describes each system's calls by one row of policy. The arithmetic is written once, in tick/bin_index.h.
#pragma once
#include <stdint.h>

#include "tick/region.h"

namespace pctally {

/// What a scale means before any arithmetic.
enum class ScaleMeaning : uint8_t { kOff, kOneCell, kEveryPc, kOrdinary, kInvalid };

/// What the entries of a call with several ranges have to be like, and what they name.
enum class ListRule : uint8_t {
  kNone,        ///< no such call
  kAnyOrder,    ///< glibc: overlaps allowed; {offset 0, scale 2} is the overflow counter
  kLastIsRest,  ///< IRIX: as kAnyOrder, but {offset 0, scale 2} comes last
  kExact,       ///< HP-UX: whole counters, ascending, disjoint; {offset 0, scale 2} comes last
  kByEnd,       ///< AIX: ascending by the end of the range, which bounds it beside the buffer
  kDescending,  ///< Tru64: descending and disjoint; the range alone says how many counters there are
};

struct DialectPolicy {
  pctally_bin_family family;
  uint32_t scale_bits;      ///< mask of the bits of a scale that count
  uint32_t smallest_scale;  ///< a smaller scale is kOff
  uint32_t largest_scale;   ///< a larger scale is kInvalid
  bool two_is_one_cell;     ///< scale 2 puts every pc from the offset on into the first counter
  bool zero_is_every_pc;    ///< scale 0 puts every pc into the first counter
  WhenFull when_full;
  uint64_t period_ns;  ///< the clock tick of the system
  ListRule list;
  WhenFull overflow_when_full;  ///< of the overflow counter, where the list may have one
};

inline constexpr uint64_t kTick100Hz = 10000000;
inline constexpr uint64_t kTick1000Hz = 1000000;
inline constexpr uint64_t kTick1024Hz = 976562;
inline constexpr uint32_t kAnyScale = UINT32_MAX;

// docs/dialects.md has this table with the reasons.
// clang-format off
//                                             family               bits       from  to         2: one cell  0: any pc  when full            tick        list                   overflow when full
inline constexpr DialectPolicy kHpuxSprofil  = {PCTALLY_BIN_FLOOR,   kAnyScale, 2,   kAnyScale, false,       false,     WhenFull::kSaturate, kTick100Hz,  ListRule::kExact,      WhenFull::kSaturate};
inline constexpr DialectPolicy kHpuxProfil   = {PCTALLY_BIN_FLOOR,   kAnyScale, 2,   kAnyScale, true,        false,     WhenFull::kSaturate, kTick100Hz,  ListRule::kNone,       WhenFull::kSaturate};
inline constexpr DialectPolicy kIrixSprofil  = {PCTALLY_BIN_FLOOR,   kAnyScale, 2,   kAnyScale, false,       false,     WhenFull::kSaturate, kTick100Hz,  ListRule::kLastIsRest, WhenFull::kSaturate};
inline constexpr DialectPolicy kSvr4Profil   = {PCTALLY_BIN_FLOOR,   kAnyScale, 2,   kAnyScale, true,        false,     WhenFull::kStop,     kTick100Hz,  ListRule::kNone,       WhenFull::kStop};
inline constexpr DialectPolicy kBsdProfil    = {PCTALLY_BIN_FLOOR,   kAnyScale, 1,   65536,     false,       false,     WhenFull::kWrap,     kTick100Hz,  ListRule::kNone,       WhenFull::kWrap};
inline constexpr DialectPolicy kTru64Profil  = {PCTALLY_BIN_FLOOR,   kAnyScale, 2,   kAnyScale, true,        false,     WhenFull::kSaturate, kTick1024Hz, ListRule::kDescending, WhenFull::kSaturate};
inline constexpr DialectPolicy kAixProfil    = {PCTALLY_BIN_ROUNDUP, 0xffff,    2,   0xffff,    true,        false,     WhenFull::kSaturate, kTick100Hz,  ListRule::kByEnd,      WhenFull::kSaturate};
inline constexpr DialectPolicy kGlibcProfil  = {PCTALLY_BIN_MAN,     kAnyScale, 1,   kAnyScale, false,       true,      WhenFull::kWrap,     kTick100Hz,  ListRule::kNone,       WhenFull::kWrap};
inline constexpr DialectPolicy kGlibcSprofil = {PCTALLY_BIN_MAN,     kAnyScale, 2,   kAnyScale, false,       false,     WhenFull::kSaturate, kTick100Hz,  ListRule::kAnyOrder,   WhenFull::kWrap};
// clang-format on

// Arguments with a meaning of their own, to profil() and to the monitor() that calls it.

inline constexpr uint32_t kAixArrayForm = UINT32_MAX;  ///< as the buffer's size: an array of ranges follows
inline constexpr uint32_t kAixScaleFromSizes = UINT32_MAX;  ///< of a range: computed from range and buffer
inline constexpr long kTru64Extended = -1;  ///< as the first address: an array of ranges follows
inline constexpr long kTru64MostEntries = 64;

constexpr ScaleMeaning meaning_of(const DialectPolicy& policy, uint32_t scale) noexcept {
  scale &= policy.scale_bits;
  if (scale == 0 && policy.zero_is_every_pc) return ScaleMeaning::kEveryPc;
  if (scale < policy.smallest_scale) return ScaleMeaning::kOff;
  if (scale > policy.largest_scale) return ScaleMeaning::kInvalid;
  return scale == 2 && policy.two_is_one_cell ? ScaleMeaning::kOneCell : ScaleMeaning::kOrdinary;
}

/// The caller's counters.
struct CellBuffer {
  void* base;
  uint64_t bytes;
  CellKind kind = CellKind::kU16;  ///< kU16, kU32 or kU64
};

constexpr uint8_t cell_shift(CellKind kind) noexcept {
  return kind == CellKind::kU16 ? 1 : kind == CellKind::kU32 ? 2 : 3;
}

/// The region that one set of profil() arguments describes. REQUIRES: the scale means neither
/// kOff nor kInvalid.
inline Region region_of(const DialectPolicy& policy, const CellBuffer& buffer, uint64_t offset,
                        uint32_t scale) noexcept {
  ScaleMeaning meaning = meaning_of(policy, scale);
  Region region{};
  region.rule.origin = offset;
  region.rule.cells = buffer.bytes >> cell_shift(buffer.kind);  // an odd byte at the end is never written
  region.rule.scale = scale & policy.scale_bits;
  region.rule.family = policy.family;
  region.rule.cell_shift = cell_shift(buffer.kind);
  if (meaning == ScaleMeaning::kOneCell) region.rule.flags = PCTALLY_BIN_SINGLE_CELL;
  if (meaning == ScaleMeaning::kEveryPc) region.rule.flags = PCTALLY_BIN_ANY_PC;
  region.low = meaning == ScaleMeaning::kEveryPc ? 0 : offset;
  region.last = region.rule.cells == 0 ? region.low : pctally_bin_last(&region.rule);
  region.cells = buffer.base;
  region.kind = buffer.kind;
  region.when_full = policy.when_full;
  return region;
}

/// The counter for every pc that lies in no region.
inline Region overflow_of(void* cell, CellKind kind, WhenFull when_full) noexcept {
  Region region{};
  region.last = UINT64_MAX;
  region.rule.cells = 1;
  region.rule.flags = PCTALLY_BIN_ANY_PC;
  region.rule.cell_shift = cell_shift(kind);
  region.cells = cell;
  region.kind = kind;
  region.when_full = when_full;
  return region;
}

}  // namespace pctally
