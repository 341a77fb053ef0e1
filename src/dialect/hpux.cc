// sprofil(2) and profil(2) of HP-UX 11i.
#include "dialect/hpux.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/region_builder.h"
#include "pctally/hpux.h"

namespace pctally {
namespace {

constinit Session g_hpux("hpux");

/// The width of a counter; false unless it is exactly one of the three flags.
bool width_of(unsigned flags, CellKind* kind) noexcept {
  if (flags == PCTALLY_HPUX_USHORT)
    *kind = CellKind::kU16;
  else if (flags == PCTALLY_HPUX_UINT)
    *kind = CellKind::kU32;
  else if (flags == PCTALLY_HPUX_UINT64)
    *kind = CellKind::kU64;
  else
    return false;
  return true;
}

Entry entry_of(const pctally_hpux_prof& prof) noexcept {
  return {.base = prof.pr_base,
          .bytes = prof.pr_size,
          .offset = reinterpret_cast<uintptr_t>(prof.pr_offset),
          .scale = prof.pr_scale};
}

int bad_arguments(const pctally_hpux_prof* profp, int profcnt, timeval* tick) noexcept {
  if (profcnt < 0 || profcnt > PCTALLY_HPUX_PROFIL_MAX) return E2BIG;
  if (!readable(profp, static_cast<size_t>(profcnt) * sizeof *profp)) return EFAULT;
  return tick != nullptr && !writable(tick, sizeof *tick) ? EFAULT : 0;
}

int start(const pctally_hpux_prof* profp, int profcnt, unsigned flags) noexcept REQUIRES(g_sessions_mutex) {
  CellKind kind{};
  if (!width_of(flags, &kind)) return EINVAL;
  RegionBuilder builder(kHpuxSprofil, kind, static_cast<size_t>(profcnt));
  for (int i = 0; i < profcnt; ++i)
    if (int error = builder.add(entry_of(fetch(profp + i))); error != 0) return error;
  return builder.start(&g_hpux, kHpuxSprofil.period_ns);
}

int sprofil(const pctally_hpux_prof* profp, int profcnt, timeval* tick, unsigned flags) noexcept
    REQUIRES(g_sessions_mutex) {
  if (int error = bad_arguments(profp, profcnt, tick); error != 0) return error;
  if (profcnt == 0) {
    g_hpux.stop();
  } else if (int error = start(profp, profcnt, flags); error != 0) {
    return error;
  }
  if (tick != nullptr) store(tick, to_timeval(kHpuxSprofil.period_ns));
  return 0;
}

}  // namespace

int hpux_profile_regions(std::span<const Region> regions) noexcept {
  SessionsLock lock;
  return g_hpux.start({regions, nullptr, kHpuxSprofil.period_ns}).error();
}

}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_hpux_sprofil(pctally_hpux_prof* profp, int profcnt, timeval* tick,
                                              unsigned int flags) {
  SessionsLock lock;
  return set_errno(sprofil(profp, profcnt, tick, flags));
}

PCTALLY_DIALECT_CALL void pctally_hpux_profil(unsigned short* buff, size_t bufsiz, size_t offset,
                                              unsigned int scale) {
  SessionsLock lock;
  set_errno(
      profil_one(&g_hpux, kHpuxProfil, {.base = buff, .bytes = bufsiz, .offset = offset, .scale = scale}));
}
