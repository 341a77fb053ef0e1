// monitor(3C) and smonitor(3C) of HP-UX 11i.
#include <string.h>

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/hpux.h"
#include "dialect/monitor/classic_monitor.h"
#include "dialect/session.h"
#include "pctally/hpux.h"

namespace pctally {
namespace {

constexpr MonitorRow kRow = {MonNaming::kProfdir, kHpuxSprofil.period_ns,
                             [] { (void)pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }};
constinit Monitor g_monitor(kRow);

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return errno_of([&] { pctally_hpux_profil(counters, bytes, offset, scale); });
}

constexpr ClassicMonitor kMonitor = {g_monitor, kHpuxProfil, 0x10000, true, SIZE_MAX, profil};

CellKind kind_of(unsigned flags) noexcept {
  if (flags == PCTALLY_HPUX_UINT64) return CellKind::kU64;
  return flags == PCTALLY_HPUX_UINT ? CellKind::kU32 : CellKind::kU16;
}

/// One smonitor() call: the counters of the regions follow each other in the buffer, all of the same width.
struct Division {
  std::span<const pctally_hpux_text_region> regions;
  CellKind kind;
  uint32_t scale = 0x10000;

  [[nodiscard]] uint64_t width() const noexcept {  // bytes of text per counter: a power of two
    return (uint64_t{65536} << cell_shift(kind)) / scale;
  }
  [[nodiscard]] uint64_t counters(const pctally_hpux_text_region& region) const noexcept {
    return (region.text_end - region.text_start - 1) / width() + 1;
  }
  [[nodiscard]] bool fits(uint64_t bytes) const noexcept {
    uint64_t room = bytes >> cell_shift(kind);
    for (const auto& region : regions) {
      uint64_t wanted = counters(region);
      if (wanted > room) return false;
      room -= wanted;
    }
    return true;
  }
  /// The finest scale that fits; false if none does.
  [[nodiscard]] bool find_scale(uint64_t bytes) noexcept {
    while (scale >= 4 && !fits(bytes)) scale /= 2;
    return scale >= 4;
  }
};

bool in_order(std::span<const pctally_hpux_text_region> regions) noexcept {
  for (size_t i = 0; i < regions.size(); ++i) {
    if (regions[i].text_start >= regions[i].text_end) return false;
    if (i > 0 && regions[i].text_start < regions[i - 1].text_end) return false;
  }
  return true;
}

/// 0 or an errno.
int start_regions(const Division& division, unsigned char* buffer) noexcept REQUIRES(g_monitors_mutex) {
  MappedArray<Region> regions;
  for (const auto& text : division.regions) {
    CellBuffer cells{buffer, division.counters(text) << cell_shift(division.kind), division.kind};
    buffer += cells.bytes;
    if (!regions.push_back(
            monitor_region(kHpuxSprofil, cells, text.text_start, text.text_end, division.scale)))
      return ENOMEM;
  }
  std::span<const Region> all{regions.data(), regions.size()};
  if (int error = hpux_profile_regions(all); error != 0) return error;
  return g_monitor.keep({.regions = all, .format = MonFormat::kGmonOut, .histogram = {}});
}

/// 0 or an errno.
int start(const pctally_hpux_text_region* from, int count, void* buffer, size_t bytes,
          unsigned flags) noexcept REQUIRES(g_monitors_mutex) {
  if (count < 1 || count > PCTALLY_HPUX_PROFIL_MAX) return E2BIG;
  bool known = flags == PCTALLY_HPUX_USHORT || flags == PCTALLY_HPUX_UINT || flags == PCTALLY_HPUX_UINT64;
  auto number = static_cast<size_t>(count);
  if (!readable(from, number * sizeof *from) || !writable(buffer, bytes)) return EFAULT;
  MappedArray<pctally_hpux_text_region> regions;  // what lies at `from` may change with the counters
  for (size_t i = 0; i < number; ++i) {
    if (regions.push_back(fetch(from + i))) continue;
    g_monitor.drop();
    return ENOMEM;
  }
  Division division{{regions.data(), number}, kind_of(flags)};
  bool aligned = reinterpret_cast<uintptr_t>(buffer) % (uint64_t{1} << cell_shift(division.kind)) == 0;
  if (!known || !aligned || !in_order(division.regions) || !division.find_scale(bytes)) return EINVAL;
  if (answers_only()) return 0;
  g_monitor.drop();
  memset(buffer, 0, bytes);
  return start_regions(division, static_cast<unsigned char*>(buffer));
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void),
                                               unsigned short* buffer, int bufsize, int nfunc) {
  auto words = static_cast<size_t>(bufsize < 0 ? 0 : bufsize),
       counts = static_cast<size_t>(nfunc < 0 ? 0 : nfunc);
  set_errno(classic_monitor(kMonitor, {reinterpret_cast<uintptr_t>(lowpc),
                                       reinterpret_cast<uintptr_t>(highpc), buffer, words, counts}));
}

PCTALLY_DIALECT_CALL void pctally_hpux_smonitor(const pctally_hpux_text_region* regions, int nregions,
                                                void* buffer, size_t bufsize, int, unsigned int flags) {
  CallLock lock(g_monitors_mutex);
  if (regions == nullptr && nregions == 0)
    g_monitor.finish();
  else
    set_errno(start(regions, nregions, buffer, bufsize, flags));
}
