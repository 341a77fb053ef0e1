// monitor(3) of 4.3BSD, and moncontrol, monstartup and _mcleanup of it and its descendants.
#include "dialect/call.h"
#include "dialect/monitor/classic_monitor.h"
#include "dialect/monitor/start_monitor.h"
#include "pctally/bsd.h"

namespace pctally {
namespace {

constexpr uint32_t kHalf = 0x8000;  ///< HISTFRACTION 2: 2 bytes of counters for 4 of text

constexpr MonitorRow kRow = {MonNaming::kProfdir, kBsdProfil.period_ns,
                             [] { (void)pctally_bsd_profil(nullptr, 0, 0, 0); }};
constinit Monitor g_monitor(kRow);

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return pctally_bsd_profil(reinterpret_cast<char*>(counters), bytes, offset, scale) == 0 ? 0 : errno;
}

constexpr ClassicMonitor kMonitor = {g_monitor, kBsdProfil, 0x10000, true, SIZE_MAX, profil};

int profil_regions(std::span<const Region> regions) {
  const Region& region = regions[0];
  return profil(static_cast<uint16_t*>(region.cells), region.rule.cells * sizeof(uint16_t), region.low,
                region.rule.scale);
}

constexpr StartMonitor kStart = {.monitor = g_monitor,
                                 .system = "bsd",
                                 .policy = kBsdProfil,
                                 .kind = CellKind::kU16,
                                 .scale = kHalf,
                                 .width = 4,
                                 .longest = kOneRegion,
                                 .profil = profil_regions,
                                 .resumable = true};

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_bsd_monitor(int (*lowpc)(void), int (*highpc)(void), short* buffer,
                                              int bufsize, int nfunc) {
  auto words = static_cast<size_t>(bufsize < 0 ? 0 : bufsize) / sizeof *buffer,
       counts = static_cast<size_t>(nfunc < 0 ? 0 : nfunc);
  set_errno(classic_monitor(kMonitor, {reinterpret_cast<uintptr_t>(lowpc),
                                       reinterpret_cast<uintptr_t>(highpc), buffer, words, counts}));
}

PCTALLY_DIALECT_CALL void pctally_bsd_monstartup(unsigned long lowpc, unsigned long highpc) {
  call_monstartup(kStart, lowpc, highpc);
}

PCTALLY_DIALECT_CALL void pctally_bsd_moncontrol(int mode) { (void)call_moncontrol(kStart, mode); }

PCTALLY_DIALECT_CALL void pctally_bsd_mcleanup(void) { call_mcleanup(kStart); }
