// monitor(), monstartup() and moncontrol() of AIX.
#include <string.h>

#include <algorithm>

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/monitor/classic_monitor.h"
#include "dialect/monitor/start_monitor.h"
#include "dialect/session.h"
#include "monfile/mon_scale.h"
#include "pctally/aix.h"

namespace pctally {
namespace {

constexpr uintptr_t kManyRanges = UINTPTR_MAX;
constexpr uint32_t kOneToOne = 0xffff;
constexpr uint64_t kExactReach = 65536;  ///< bytes of text for which 0xffff is one counter per two bytes
constexpr int kProfTypeGprof = 1;

pctally_aix_prof g_end{};

constexpr MonitorRow kRow = {MonNaming::kProfdir, kAixProfil.period_ns, [] {
                               (void)pctally_aix_profil(nullptr, 0, 0, 0);
                               (void)pctally_aix_profil(&g_end, kAixArrayForm, 0, 0);
                             }};
constinit Monitor g_monitor(kRow);

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

int profil_regions(std::span<const Region> regions) {
  MappedArray<pctally_aix_prof> entries;
  for (const Region& region : regions) {
    auto bytes = region.rule.cells * sizeof(uint16_t);
    if (!entries.push_back({reinterpret_cast<char*>(region.low), reinterpret_cast<char*>(region.last + 1),
                            static_cast<uint16_t*>(region.cells), static_cast<int>(bytes),
                            region.rule.scale}))
      return ENOMEM;
  }
  if (!entries.push_back(pctally_aix_prof{})) return ENOMEM;
  return pctally_aix_profil(entries.data(), kAixArrayForm, 0, 0) == 0 ? 0 : errno;
}

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return pctally_aix_profil(counters, static_cast<unsigned>(bytes), offset, scale) == 0 ? 0 : errno;
}

constexpr ClassicMonitor kMonitor = {g_monitor, kAixProfil, kOneToOne, false, INT32_MAX, profil, true};
constexpr StartMonitor kStart = {.monitor = g_monitor,
                                 .system = "aix",
                                 .policy = kAixProfil,
                                 .kind = CellKind::kU16,
                                 .scale = kOneToOne,
                                 .width = 2,
                                 .longest = kExactReach,
                                 .profil = profil_regions};

uint64_t bytes_of(const pctally_aix_prof& entry) noexcept {
  return entry.p_bufsize > 0 ? static_cast<uint64_t>(entry.p_bufsize) * sizeof *entry.p_buff : 0;
}

/// One entry of the array form, where p_bufsize counts counters; 0 or an errno.
int add_entry(const pctally_aix_prof& entry, uint64_t before, MappedArray<Region>* regions) noexcept {
  uint64_t low = address(entry.p_low), high = address(entry.p_high), bytes = bytes_of(entry);
  if (high <= before || low < before || low >= high || bytes == 0 || bytes > INT32_MAX) return EINVAL;
  if (!writable(entry.p_buff, bytes)) return EFAULT;
  uint32_t scale = entry.p_scale == kAixScaleFromSizes
                       ? monitor_scale(kAixProfil, bytes / 2, high - low, kOneToOne)
                       : entry.p_scale & 0xffff;
  if (scale < 2) return EINVAL;
  return regions->push_back(monitor_region(kAixProfil, {entry.p_buff, bytes}, low, high, scale)) ? 0 : ENOMEM;
}

/// 0 or an errno.
int start_regions(std::span<const Region> regions, MonFormat format, const MonHistogram& histogram) noexcept
    REQUIRES(g_monitors_mutex) {
  if (int error = profil_regions(regions); error != 0) return error;
  return g_monitor.keep(
      {.regions = regions, .format = format, .histogram = histogram, .until_exit = kMonitor.until_exit});
}

/// Profil's own condition: all memory from the lowest counter to the highest.
bool writable_as_one(std::span<const Region> regions) noexcept {
  uint64_t low = UINT64_MAX, end = 0;
  for (const Region& region : regions) {
    low = std::min(low, address(region.cells));
    end = std::max(end, address(region.cells) + region.rule.cells * sizeof(uint16_t));
  }
  return writable(reinterpret_cast<void*>(low), end - low);
}

/// 0 or an errno.
int start_array(const pctally_aix_prof* from) noexcept REQUIRES(g_monitors_mutex) {
  MappedArray<Region> regions;
  for (uint64_t before = 0;; ++from) {
    if (!readable(from, sizeof *from)) return EFAULT;
    const pctally_aix_prof entry = fetch(from);
    if (entry.p_high == nullptr) break;
    if (int error = add_entry(entry, before, &regions); error != 0) return error;
    before = address(entry.p_high);
  }
  if (regions.size() == 0) return EINVAL;
  if (!writable_as_one({regions.data(), regions.size()})) return EFAULT;
  if (answers_only()) return 0;
  g_monitor.drop();
  for (const Region& region : regions) memset(region.cells, 0, region.rule.cells * sizeof(uint16_t));
  return start_regions({regions.data(), regions.size()}, MonFormat::kGmonOut, {});
}

/// The classic call with a counter for every two bytes of more text than 0xffff divides so.
bool is_long_one_to_one(uint64_t low, uint64_t high, int words) noexcept {
  return low < high && high - low > kExactReach && words > 0 &&
         mon_scale(static_cast<uint64_t>(words), high - low) == kMonOneToOne;
}

/// Ranges of 64 KiB whose counters follow each other, as in the buffer of one range.
bool divide(uint64_t low, uint64_t high, uint16_t* counters, MappedArray<Region>* regions) noexcept {
  for (;; low += kExactReach, counters += kExactReach / 2) {
    uint64_t reach = std::min(high - low, kExactReach);
    CellBuffer cells{counters, (reach + 1) / 2 * sizeof *counters};
    if (!regions->push_back(monitor_region(kAixProfil, cells, low, low + reach, kOneToOne))) return false;
    if (high - low == reach) return true;
  }
}

/// 0 or an errno.
int start_one_to_one(uint64_t low, uint64_t high, void* buffer, int words, MonFormat format) noexcept
    REQUIRES(g_monitors_mutex) {
  auto* counters = static_cast<uint16_t*>(buffer);
  auto wanted = static_cast<size_t>((high - low + 1) / 2),
       bytes = static_cast<size_t>(words) * sizeof *counters;
  if (wanted > INT32_MAX / sizeof *counters) return EINVAL;
  if (!writable(buffer, bytes)) return EFAULT;
  if (answers_only()) return 0;
  g_monitor.drop();
  memset(buffer, 0, bytes);
  MappedArray<Region> regions;
  if (!divide(low, high, counters, &regions)) return ENOMEM;
  MonHistogram histogram{
      .low = low, .high = high, .calls = nullptr, .call_counts = 0, .counters = {counters, wanted}};
  return start_regions({regions.data(), regions.size()}, format, histogram);
}

bool fragments(const pctally_aix_frag* from, MappedArray<TextRange>* ranges) noexcept {
  if (from == nullptr) return loaded_text(ranges);
  for (; readable(from, sizeof *from); ++from) {
    const pctally_aix_frag fragment = fetch(from);
    if (fragment.p_high == nullptr) return true;
    if (!ranges->push_back({address(fragment.p_low), address(fragment.p_high)})) return false;
  }
  return false;
}

bool ascending(const MappedArray<TextRange>& ranges) noexcept {
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].low < ranges[i - 1].high) return false;
  return true;
}

MonFormat format_asked() noexcept {
  return pctally_aix_mondata.prof_type == kProfTypeGprof ? MonFormat::kGmonOut : MonFormat::kMonOut;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

__attribute__((visibility("default"))) pctally_aix_monglobal pctally_aix_mondata{};  // C by its declaration

PCTALLY_DIALECT_CALL int pctally_aix_monitor(uintptr_t low, uintptr_t high, void* buffer, int bufsize,
                                             int nfunc) {
  bool is_array = low != 0 && static_cast<uint32_t>(bufsize) == kAixArrayForm;
  bool is_long = low != 0 && is_long_one_to_one(low, high, bufsize);
  if (!is_array && !is_long) {
    auto words = static_cast<size_t>(bufsize < 0 ? 0 : bufsize);
    (void)nfunc;  // the call counts never lay in the buffer
    return set_errno(classic_monitor(kMonitor, {low, high, buffer, words, 0, format_asked()}));
  }
  CallLock lock(g_monitors_mutex);
  if (is_long) return set_errno(start_one_to_one(low, high, buffer, bufsize, format_asked()));
  return set_errno(start_array(static_cast<const pctally_aix_prof*>(buffer)));
}

PCTALLY_DIALECT_CALL int pctally_aix_monstartup(uintptr_t low, uintptr_t high) {
  CallLock lock(g_monitors_mutex);
  MappedArray<TextRange> ranges;
  bool known = low == kManyRanges ? fragments(reinterpret_cast<const pctally_aix_frag*>(high), &ranges)
                                  : ranges.push_back({low, high});
  if (!known || !ascending(ranges)) return set_errno(known ? EINVAL : EFAULT);
  MonFormat format = low == kManyRanges ? MonFormat::kGmonOut : format_asked();
  return set_errno(start_monitor(kStart, {ranges.data(), ranges.size()}, format));
}

PCTALLY_DIALECT_CALL int pctally_aix_moncontrol(int mode) { return call_moncontrol(kStart, mode); }
