// sprofil(2) and profil(2) of HP-UX 11i.
#include "pctally/hpux.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"
#include "dialect/region_list.h"

namespace pctally {
namespace {

constinit Session g_hpux("hpux");

bool width_of(unsigned flags, CellKind* kind) noexcept {
  switch (flags) {
    case PCTALLY_HPUX_USHORT:
      return *kind = CellKind::kU16, true;
    case PCTALLY_HPUX_UINT:
      return *kind = CellKind::kU32, true;
    case PCTALLY_HPUX_UINT64:
      return *kind = CellKind::kU64, true;
    default:
      return false;
  }
}

/// The entries of one call, checked in their order.
struct Entries {
  CellKind kind;
  RegionList regions;
  Region overflow{};
  bool has_overflow = false;
  bool has_region = false;
  uint64_t last = 0;  ///< the last pc of the region before

  [[nodiscard]] uint64_t element() const noexcept { return uint64_t{1} << cell_shift(kind); }

  int add_overflow(const pctally_hpux_prof& entry, bool is_last) noexcept {
    if (!is_last || entry.pr_size != element()) return EINVAL;
    overflow = overflow_of(entry.pr_base, kind, kHpuxSprofil.when_full);
    has_overflow = true;
    return 0;
  }

  int add_region(const pctally_hpux_prof& entry) noexcept {
    if (entry.pr_size == 0 || entry.pr_size % element() != 0) return EINVAL;
    if (entry.pr_size > uint64_t{entry.pr_scale} << 30) return EINVAL;  // (2^46 * pr_scale) / 65536
    auto offset = reinterpret_cast<uintptr_t>(entry.pr_offset);
    if (has_region && offset <= last) return EINVAL;  // not ascending, or overlapping
    Region region = region_of(kHpuxSprofil, {entry.pr_base, entry.pr_size, kind}, offset, entry.pr_scale);
    has_region = true;
    last = region.last;
    return regions.add(region) ? 0 : ENOMEM;
  }

  int add(const pctally_hpux_prof& entry, bool is_last) noexcept {
    if (meaning_of(kHpuxSprofil, entry.pr_scale) == ScaleMeaning::kOff)
      return 0;  // "ignored": not even checked
    bool is_overflow = entry.pr_offset == nullptr && entry.pr_scale == 2;
    return is_overflow ? add_overflow(entry, is_last) : add_region(entry);
  }
};

int bad_arguments(const pctally_hpux_prof* profp, int profcnt, timeval* tick) noexcept {
  if (profcnt < 0 || profcnt > PCTALLY_HPUX_PROFIL_MAX) return E2BIG;
  if (!readable(profp, static_cast<size_t>(profcnt) * sizeof *profp)) return EFAULT;
  return tick != nullptr && !writable(tick, sizeof *tick) ? EFAULT : 0;
}

int start_entries(const pctally_hpux_prof* profp, int profcnt, CellKind kind) noexcept {
  Entries entries{};
  entries.kind = kind;
  for (int i = 0; i < profcnt; ++i)
    if (int error = entries.add(fetch(profp + i), i == profcnt - 1); error != 0) return refuse(error);
  return told(g_hpux.start(
      {entries.regions.all(), entries.has_overflow ? &entries.overflow : nullptr, kHpuxSprofil.period_ns}));
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_hpux_sprofil(pctally_hpux_prof* profp, int profcnt, timeval* tick,
                                              unsigned int flags) {
  SessionLock lock;
  CellKind kind{};
  if (int error = bad_arguments(profp, profcnt, tick); error != 0) return refuse(error);
  if (profcnt == 0)
    g_hpux.stop();
  else if (!width_of(flags, &kind))
    return refuse(EINVAL);
  else if (start_entries(profp, profcnt, kind) != 0)
    return -1;
  if (tick != nullptr) store(tick, to_timeval(kHpuxSprofil.period_ns));
  return 0;
}

PCTALLY_DIALECT_CALL void pctally_hpux_profil(unsigned short* buff, size_t bufsiz, size_t offset,
                                              unsigned int scale) {
  SessionLock lock;
  if (meaning_of(kHpuxProfil, scale) == ScaleMeaning::kOff)
    g_hpux.stop();
  else
    (void)told(start_one(g_hpux, kHpuxProfil, {buff, bufsiz}, offset, scale));
}
