// sprofil(2) of IRIX, and profil(3) and sprofil(3) as the GNU C library declares them.
#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"
#include "dialect/region_list.h"
#include "pctally/glibc.h"
#include "pctally/irix.h"

namespace pctally {
namespace {

constinit Session g_irix("irix");
constinit Session g_glibc("glibc");

constexpr int kMostGlibcEntries = 65536;  ///< none in the C library; a bound all the same

/// Where the two differ.
struct SprofilRules {
  const DialectPolicy& policy;
  CellKind kind;
  WhenFull overflow_when_full;
  uint64_t period_ns;
};

/// Any order, overlaps allowed: "the pr_base associated with the largest offset less than the value of the
/// program counter gets incremented".
template <class Prof>
int start_entries(Session& session, const SprofilRules& rules, const Prof* profp, int profcnt) noexcept {
  RegionList regions;
  Region overflow;
  bool has_overflow = false;
  for (int i = 0; i < profcnt; ++i) {
    const Prof entry = fetch(profp + i);
    auto scale = static_cast<uint32_t>(entry.pr_scale);
    if (meaning_of(rules.policy, scale) == ScaleMeaning::kOff) continue;
    CellBuffer buffer{entry.pr_base, entry.pr_size, rules.kind};
    if (buffer.bytes >> cell_shift(rules.kind) == 0) continue;
    if (entry.pr_off == 0 && scale == 2) {
      overflow = overflow_of(entry.pr_base, rules.kind, rules.overflow_when_full);
      has_overflow = true;
    } else if (!regions.add(region_of(rules.policy, buffer, entry.pr_off, scale))) {
      return refuse(ENOMEM);
    }
  }
  return told(session.start({regions.all(), has_overflow ? &overflow : nullptr, rules.period_ns}));
}

template <class Prof>
int sprofil(Session& session, const SprofilRules& rules, const Prof* profp, int profcnt,
            timeval* tick) noexcept {
  if (!readable(profp, static_cast<size_t>(profcnt) * sizeof *profp)) return refuse(EFAULT);
  if (tick != nullptr && !writable(tick, sizeof *tick)) return refuse(EFAULT);
  if (profcnt == 0)
    session.stop();
  else if (start_entries(session, rules, profp, profcnt) != 0)
    return -1;
  if (tick != nullptr) store(tick, to_timeval(rules.period_ns));
  return 0;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_irix_sprofil(pctally_irix_prof* profp, int profcnt, timeval* tick,
                                              unsigned int flags) {
  SessionLock lock;
  unsigned width = flags & ~unsigned{PCTALLY_IRIX_FAST};
  if (profcnt < 0 || profcnt > PCTALLY_IRIX_PROFIL_MAX) return refuse(E2BIG);
  if (profcnt > 0 && width != PCTALLY_IRIX_USHORT && width != PCTALLY_IRIX_UINT) return refuse(EINVAL);
  SprofilRules rules{kIrixSprofil, width == PCTALLY_IRIX_UINT ? CellKind::kU32 : CellKind::kU16,
                     kIrixSprofil.when_full,
                     (flags & PCTALLY_IRIX_FAST) != 0 ? kTick1000Hz : kIrixSprofil.period_ns};
  return sprofil(g_irix, rules, profp, profcnt, tick);
}

PCTALLY_DIALECT_CALL int pctally_glibc_sprofil(pctally_glibc_prof* profp, int profcnt, timeval* tick,
                                               unsigned int flags) {
  SessionLock lock;
  constexpr unsigned kKnown = PCTALLY_GLIBC_UINT | PCTALLY_GLIBC_FAST;
  if (profcnt < 0 || profcnt > kMostGlibcEntries || (flags & ~kKnown) != 0) return refuse(EINVAL);
  SprofilRules rules{kGlibcSprofil, (flags & PCTALLY_GLIBC_UINT) != 0 ? CellKind::kU32 : CellKind::kU16,
                     WhenFull::kWrap,
                     (flags & PCTALLY_GLIBC_FAST) != 0 ? kTick1000Hz : kGlibcSprofil.period_ns};
  return sprofil(g_glibc, rules, profp, profcnt, tick);
}

PCTALLY_DIALECT_CALL int pctally_glibc_profil(unsigned short* sample_buffer, size_t size, size_t offset,
                                              unsigned int scale) {
  SessionLock lock;
  if (sample_buffer != nullptr)
    return told(start_one(g_glibc, kGlibcProfil, {sample_buffer, size}, offset, scale));
  g_glibc.stop();
  return 0;
}
