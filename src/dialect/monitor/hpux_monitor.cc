// monitor(3C) and smonitor(3C) of HP-UX 11i.
#include <string.h>

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/monitor/classic_monitor.h"
#include "pctally/hpux.h"

namespace pctally {
namespace {

constexpr MonitorRow kRow = {MonNaming::kProfdir, kHpuxSprofil.period_ns,
                             [] { (void)pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }};
constinit Monitor g_monitor(kRow);

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return result_by_errno([&] { pctally_hpux_profil(counters, bytes, offset, scale); });
}

constexpr ClassicMonitor kMonitor = {g_monitor, kHpuxProfil, 0x10000, true, SIZE_MAX, profil};

CellKind kind_of(unsigned flags) noexcept {
  if (flags == PCTALLY_HPUX_UINT64) return CellKind::kU64;
  return flags == PCTALLY_HPUX_UINT ? CellKind::kU32 : CellKind::kU16;
}

/// Counters for bytes of text. The last one may reach beyond the text, but not into the next region's.
uint64_t counters_for(const pctally_hpux_text_region* region, bool is_last, uint64_t width) noexcept {
  uint64_t bytes = region->text_end - region->text_start, counters = (bytes + width - 1) / width;
  bool touches_next = !is_last && counters * width > region[1].text_start - region->text_start;
  return touches_next ? counters - 1 : counters;
}

/// One smonitor() call: the counters of the regions follow each other in the buffer, all of the same width.
struct Division {
  std::span<const pctally_hpux_text_region> regions;
  CellKind kind;
  uint32_t scale = 0x10000;

  [[nodiscard]] uint64_t width() const noexcept {  // bytes of text per counter: a power of two
    return (uint64_t{65536} << cell_shift(kind)) / scale;
  }
  [[nodiscard]] uint64_t counters(size_t i) const noexcept {
    return counters_for(&regions[i], i + 1 == regions.size(), width());
  }
  [[nodiscard]] bool fits(uint64_t bytes) const noexcept {
    uint64_t room = bytes >> cell_shift(kind), most = UINT32_MAX >> cell_shift(kind);  // pr_size has 32 bits
    for (size_t i = 0; i < regions.size(); ++i) {
      uint64_t wanted = counters(i);
      if (wanted > room || wanted > most || wanted == 0) return false;
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

int start_regions(const Division& division, unsigned char* buffer, unsigned flags) noexcept
    REQUIRES(g_monitors_mutex) {
  MappedArray<pctally_hpux_prof> entries;
  MappedArray<Region> kept;
  for (size_t i = 0; i < division.regions.size(); ++i) {
    const auto& text = division.regions[i];
    uint64_t bytes = division.counters(i) << cell_shift(division.kind);
    CellBuffer cells{buffer, bytes, division.kind};
    buffer += bytes;
    if (!entries.push_back({cells.base, static_cast<unsigned>(bytes),
                            reinterpret_cast<void*>(text.text_start), division.scale}) ||
        !kept.push_back(monitor_region(kHpuxSprofil, cells, text.text_start, text.text_end, division.scale)))
      return set_errno(ENOMEM);
  }
  if (pctally_hpux_sprofil(entries.data(), static_cast<int>(entries.size()), nullptr, flags) != 0) return -1;
  if (g_monitor.keep({.regions = {kept.data(), kept.size()}, .format = MonFormat::kGmonOut, .histogram = {}}))
    return 0;
  g_monitor.pause();
  return set_errno(ENOMEM);
}

int start(const pctally_hpux_text_region* regions, int count, void* buffer, size_t bytes,
          unsigned flags) noexcept REQUIRES(g_monitors_mutex) {
  if (count < 1 || count > PCTALLY_HPUX_PROFIL_MAX) return set_errno(E2BIG);
  bool known = flags == PCTALLY_HPUX_USHORT || flags == PCTALLY_HPUX_UINT || flags == PCTALLY_HPUX_UINT64;
  auto number = static_cast<size_t>(count);
  if (!readable(regions, number * sizeof *regions) || !writable(buffer, bytes)) return set_errno(EFAULT);
  Division division{{regions, number}, kind_of(flags)};
  bool aligned = reinterpret_cast<uintptr_t>(buffer) % (uint64_t{1} << cell_shift(division.kind)) == 0;
  if (!known || !aligned || !in_order(division.regions) || !division.find_scale(bytes))
    return set_errno(EINVAL);
  g_monitor.pause();
  memset(buffer, 0, bytes);
  return start_regions(division, static_cast<unsigned char*>(buffer), flags);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void),
                                               unsigned short* buffer, int bufsize, int nfunc) {
  auto words = static_cast<size_t>(bufsize < 0 ? 0 : bufsize),
       counts = static_cast<size_t>(nfunc < 0 ? 0 : nfunc);
  (void)classic_monitor(kMonitor, {reinterpret_cast<uintptr_t>(lowpc), reinterpret_cast<uintptr_t>(highpc),
                                   buffer, words, counts});
}

PCTALLY_DIALECT_CALL void pctally_hpux_smonitor(const pctally_hpux_text_region* regions, int nregions,
                                                void* buffer, size_t bufsize, int, unsigned int flags) {
  MonitorLock lock;
  if (regions == nullptr && nregions == 0)
    g_monitor.finish();
  else
    (void)start(regions, nregions, buffer, bufsize, flags);
}
