// profil(2) of Tru64 UNIX: one range of 16-bit counters, or up to 64 of 32-bit counters.
#include "pctally/tru64.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"
#include "dialect/region_list.h"

namespace pctally {
namespace {

// One for both forms: that is their mutual exclusion.
constinit Session g_tru64("tru64");

constexpr long kExtended = -1;
constexpr long kMostEntries = 64;

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

/// The entry names no buffer size: it is what highpc needs. False if no pc of the range has a counter.
bool extended_region(const pctally_tru64_profil_args& entry, Region* region) noexcept {
  *region =
      region_of(kTru64Profil, {entry.buffer, UINT64_MAX, CellKind::kU32}, address(entry.offset), entry.scale);
  uint64_t last = address(entry.highpc) - 1, index = 0;
  if (!pctally_bin_index(&region->rule, last, &index)) return false;
  region->rule.cells = index + 1;
  region->low = address(entry.lowpc);
  region->last = last;
  return true;
}

bool in_order(const pctally_tru64_profil_args* entries, long count) noexcept {
  for (long i = 0; i < count; ++i) {
    if (address(entries[i].highpc) <= address(entries[i].lowpc)) return false;
    if (i > 0 && address(entries[i].highpc) > address(entries[i - 1].lowpc)) return false;
  }
  return true;
}

int start_extended(const pctally_tru64_profil_args* given, long count, unsigned long flags) noexcept {
  if (count < 1 || count > kMostEntries || flags != 0) return refuse(EINVAL);
  if (!readable(given, static_cast<size_t>(count) * sizeof *given)) return refuse(EFAULT);
  pctally_tru64_profil_args entries[kMostEntries];
  for (long i = 0; i < count; ++i) entries[i] = fetch(given + i);
  if (!in_order(entries, count)) return refuse(EINVAL);
  RegionList regions;
  for (long i = 0; i < count; ++i) {
    Region region;
    if (meaning_of(kTru64Profil, entries[i].scale) == ScaleMeaning::kOff) continue;
    if (extended_region(entries[i], &region) && !regions.add(region)) return refuse(ENOMEM);
  }
  return told(g_tru64.start({regions.all(), nullptr, kTru64Profil.period_ns}));
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_tru64_profil(void* buffer, long buffer_size, long offset,
                                               unsigned long scale_or_flags) {
  SessionLock lock;
  if (offset == kExtended) {
    (void)start_extended(static_cast<const pctally_tru64_profil_args*>(buffer), buffer_size, scale_or_flags);
    return;
  }
  auto scale = static_cast<uint32_t>(scale_or_flags), size = static_cast<uint32_t>(buffer_size);
  if (meaning_of(kTru64Profil, scale) == ScaleMeaning::kOff)
    g_tru64.stop();
  else
    (void)told(start_one(g_tru64, kTru64Profil, {buffer, size}, static_cast<uint64_t>(offset), scale));
}
