// sprofil(2) and profil(2) of IRIX, and profil(3) and sprofil(3) as the GNU C library declares them.
#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/region_builder.h"
#include "pctally/glibc.h"
#include "pctally/irix.h"

namespace pctally {
namespace {

constinit Session g_irix("irix");
constinit Session g_glibc("glibc");

constexpr int kMostGlibcEntries = 65536;  ///< the C library has no limit

/// What a call asks for besides its entries.
struct SprofilCall {
  Session& session;
  const DialectPolicy& policy;
  CellKind kind;
  uint64_t period_ns;
};

template <class Prof>
int start(const SprofilCall& call, const Prof* profp, int profcnt) noexcept REQUIRES(g_sessions_mutex) {
  RegionBuilder builder(call.policy, call.kind, static_cast<size_t>(profcnt));
  for (int i = 0; i < profcnt; ++i) {
    const Prof prof = fetch(profp + i);
    Entry entry{.base = prof.pr_base,
                .bytes = prof.pr_size,
                .offset = prof.pr_off,
                .scale = static_cast<uint32_t>(prof.pr_scale)};
    if (int error = builder.add(entry); error != 0) return error;
  }
  return builder.start(&call.session, call.period_ns);
}

template <class Prof>
int sprofil(const SprofilCall& call, const Prof* profp, int profcnt, timeval* tick) noexcept
    REQUIRES(g_sessions_mutex) {
  if (!readable(profp, static_cast<size_t>(profcnt) * sizeof *profp)) return EFAULT;
  if (tick != nullptr && !writable(tick, sizeof *tick)) return EFAULT;
  if (profcnt == 0) {
    call.session.stop();
  } else if (int error = start(call, profp, profcnt); error != 0) {
    return error;
  }
  if (tick != nullptr) store(tick, to_timeval(call.period_ns));
  return 0;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_irix_sprofil(pctally_irix_prof* profp, int profcnt, timeval* tick,
                                              unsigned int flags) {
  SessionsLock lock;
  constexpr unsigned kKnown = PCTALLY_IRIX_USHORT | PCTALLY_IRIX_UINT | PCTALLY_IRIX_FAST;
  if (profcnt < 0 || profcnt > PCTALLY_IRIX_PROFIL_MAX) return set_errno(E2BIG);
  if (profcnt > 0 && (flags & ~kKnown) != 0) return set_errno(EINVAL);
  SprofilCall call{g_irix, kIrixSprofil, (flags & PCTALLY_IRIX_UINT) != 0 ? CellKind::kU32 : CellKind::kU16,
                   (flags & PCTALLY_IRIX_FAST) != 0 ? kTick1000Hz : kIrixSprofil.period_ns};
  return set_errno(sprofil(call, profp, profcnt, tick));
}

PCTALLY_DIALECT_CALL int pctally_irix_profil(unsigned short* buff, unsigned int bufsiz, size_t offset,
                                             unsigned int scale) {
  SessionsLock lock;
  if (meaning_of(kIrixSprofil, scale) == ScaleMeaning::kOff) {
    g_irix.stop();
    return 0;
  }
  const pctally_irix_prof entry{buff, bufsiz, offset, scale};
  return set_errno(start({g_irix, kIrixSprofil, CellKind::kU16, kIrixSprofil.period_ns}, &entry, 1));
}

PCTALLY_DIALECT_CALL int pctally_glibc_sprofil(pctally_glibc_prof* profp, int profcnt, timeval* tick,
                                               unsigned int flags) {
  SessionsLock lock;
  constexpr unsigned kKnown = PCTALLY_GLIBC_UINT | PCTALLY_GLIBC_FAST;
  if (profcnt < 0 || profcnt > kMostGlibcEntries || (flags & ~kKnown) != 0) return set_errno(EINVAL);
  SprofilCall call{g_glibc, kGlibcSprofil,
                   (flags & PCTALLY_GLIBC_UINT) != 0 ? CellKind::kU32 : CellKind::kU16,
                   (flags & PCTALLY_GLIBC_FAST) != 0 ? kTick1000Hz : kGlibcSprofil.period_ns};
  return set_errno(sprofil(call, profp, profcnt, tick));
}

PCTALLY_DIALECT_CALL int pctally_glibc_profil(unsigned short* sample_buffer, size_t size, size_t offset,
                                              unsigned int scale) {
  SessionsLock lock;
  if (sample_buffer != nullptr)
    return set_errno(profil_one(&g_glibc, kGlibcProfil,
                                {.base = sample_buffer, .bytes = size, .offset = offset, .scale = scale}));
  g_glibc.stop();
  return 0;
}
