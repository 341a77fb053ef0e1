// monitor(3C) of System V Release 4.
#include "dialect/call.h"
#include "dialect/monitor/classic_monitor.h"
#include "pctally/svr4.h"

namespace pctally {
namespace {

constexpr MonitorRow kRow = {MonNaming::kProfdir, kSvr4Profil.period_ns,
                             [] { (void)pctally_svr4_profil(nullptr, 0, 0, 0); }};
constinit Monitor g_monitor(kRow);

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return pctally_svr4_profil(counters, static_cast<unsigned>(bytes), offset, scale) == 0 ? 0 : errno;
}

constexpr ClassicMonitor kMonitor = {g_monitor, kSvr4Profil, 0x10000, true, UINT32_MAX, profil};

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_svr4_monitor(int (*lowpc)(void), int (*highpc)(void),
                                               unsigned short* buffer, size_t bufsize, size_t nfunc) {
  set_errno(classic_monitor(kMonitor, {reinterpret_cast<uintptr_t>(lowpc),
                                       reinterpret_cast<uintptr_t>(highpc), buffer, bufsize, nfunc}));
}
