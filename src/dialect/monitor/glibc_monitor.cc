// monstartup, moncontrol and _mcleanup as the GNU C library has them.
#include "dialect/call.h"
#include "dialect/monitor/start_monitor.h"
#include "pctally/glibc.h"

namespace pctally {
namespace {

constexpr MonitorRow kRow = {MonNaming::kGmonPrefix, kGlibcSprofil.period_ns,
                             [] { (void)pctally_glibc_sprofil(nullptr, 0, nullptr, 0); }};
constinit Monitor g_monitor(kRow);

int profil_regions(std::span<const Region> regions) {
  const Region& region = regions[0];
  pctally_glibc_prof entry{region.cells, static_cast<size_t>(region.rule.cells * sizeof(uint32_t)),
                           static_cast<size_t>(region.low), region.rule.scale};
  return pctally_glibc_sprofil(&entry, 1, nullptr, PCTALLY_GLIBC_UINT) == 0 ? 0 : errno;
}

constexpr StartMonitor kStart = {.monitor = g_monitor,
                                 .system = "glibc",
                                 .policy = kGlibcSprofil,
                                 .kind = CellKind::kU32,
                                 .scale = 0x10000,
                                 .width = 4,
                                 .longest = kOneRegion,
                                 .profil = profil_regions};

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_glibc_monstartup(unsigned long lowpc, unsigned long highpc) {
  call_monstartup(kStart, lowpc, highpc);
}

PCTALLY_DIALECT_CALL void pctally_glibc_moncontrol(int mode) { (void)call_moncontrol(kStart, mode); }

PCTALLY_DIALECT_CALL void pctally_glibc_mcleanup(void) { call_mcleanup(kStart); }
