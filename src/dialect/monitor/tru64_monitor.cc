// monitor(3), monstartup(3) and moncontrol(3) of Tru64 UNIX: the traditional call with 16-bit counters, the
// extended one and monstartup with counters of 32 bits.
#include <string.h>

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/monitor/classic_monitor.h"
#include "dialect/monitor/start_monitor.h"
#include "dialect/session.h"
#include "pctally/tru64.h"

namespace pctally {
namespace {

constexpr MonitorRow kRow = {MonNaming::kProfdir, kTru64Profil.period_ns,
                             [] { pctally_tru64_profil(nullptr, 0, 0, 0); }};
constinit Monitor g_monitor(kRow);

int profil(uint16_t* counters, size_t bytes, uint64_t offset, uint32_t scale) {
  return errno_of(
      [&] { pctally_tru64_profil(counters, static_cast<long>(bytes), static_cast<long>(offset), scale); });
}

constexpr ClassicMonitor kMonitor = {g_monitor, kTru64Profil, 0x10000, false, INT32_MAX, profil};

pctally_tru64_profil_args entry_of(const Region& region) noexcept {
  void* low = reinterpret_cast<void*>(region.low);
  return {static_cast<unsigned*>(region.cells), reinterpret_cast<void*>(region.last + 1), low, low,
          region.rule.scale};
}

/// The regions ascend, the entries of the call have to descend.
int profil_regions(std::span<const Region> regions) {
  const Region& first = regions[0];
  if (first.kind == CellKind::kU16)
    return profil(static_cast<uint16_t*>(first.cells), first.rule.cells * sizeof(uint16_t), first.low,
                  first.rule.scale);
  pctally_tru64_profil_args entries[kTru64MostEntries];
  for (size_t i = 0; i < regions.size(); ++i) entries[i] = entry_of(regions[regions.size() - 1 - i]);
  auto count = static_cast<long>(regions.size());
  return errno_of([&] { pctally_tru64_profil(entries, count, kTru64Extended, 0); });
}

constexpr StartMonitor kStart = {.monitor = g_monitor,
                                 .system = "tru64",
                                 .policy = kTru64Profil,
                                 .kind = CellKind::kU32,
                                 .scale = 0x10000,
                                 .width = 4,
                                 .longest = kOneRegion,
                                 .profil = profil_regions};

uint64_t address(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

uint64_t counters_of(const pctally_tru64_monitor_args& entry) noexcept {
  return entry.bufsiz / sizeof *entry.buffer;
}

uint64_t bytes_of(const pctally_tru64_monitor_args& entry) noexcept {
  return counters_of(entry) * sizeof *entry.buffer;
}

/// A scale of a power of two, so that every counter stands for as many bytes; 0 if there is no room.
/// REQUIRES: the range is not empty.
uint32_t scale_of(const pctally_tru64_monitor_args& entry) noexcept {
  uint64_t text = address(entry.highpc) - address(entry.lowpc);
  uint32_t scale = 0x10000;
  while (scale >= 4 && pctally_scaled(text - 1, scale) / sizeof *entry.buffer >= counters_of(entry))
    scale /= 2;
  return scale >= 4 ? scale : 0;
}

/// 0 or an errno.
int check_entry(const pctally_tru64_monitor_args* entries, size_t at) noexcept {
  const auto& entry = entries[at];
  bool in_order = at == 0 || address(entry.highpc) <= address(entries[at - 1].lowpc);
  if (!in_order || address(entry.highpc) <= address(entry.lowpc) || scale_of(entry) == 0) return EINVAL;
  return writable(entry.buffer, bytes_of(entry)) ? 0 : EFAULT;
}

/// 0 or an errno. *wrong is the index of the entry that is wrong, -1 if none is.
int start_extended(const pctally_tru64_monitor_args* from, int count, int* wrong) noexcept
    REQUIRES(g_monitors_mutex) {
  *wrong = -1;
  if (count < 1 || count > kTru64MostEntries) return EINVAL;
  auto number = static_cast<size_t>(count);
  if (!readable(from, number * sizeof *from)) return EFAULT;
  pctally_tru64_monitor_args entries[kTru64MostEntries];  // what lies at `from` may change with the counters
  for (size_t i = 0; i < number; ++i) entries[i] = fetch(from + i);
  Region kept[kTru64MostEntries];
  for (size_t i = 0; i < number; ++i) {
    const auto& entry = entries[i];
    if (int error = check_entry(entries, i); error != 0) {
      *wrong = static_cast<int>(i);
      return error;
    }
    Region& region = kept[number - 1 - i];  // ascending, where the call's are decreasing
    region = monitor_region(kTru64Profil, {entry.buffer, bytes_of(entry), CellKind::kU32},
                            address(entry.lowpc), address(entry.highpc), scale_of(entry));
  }
  if (answers_only()) return 0;
  g_monitor.drop();
  for (size_t i = 0; i < number; ++i) memset(entries[i].buffer, 0, bytes_of(entries[i]));
  if (int error = profil_regions({kept, number}); error != 0) return error;
  return g_monitor.keep({.regions = {kept, number}, .format = MonFormat::kGmonOut, .histogram = {}});
}

/// The second argument is 0 for an array of ranges; or the first is -1, as the offset of profil's extended
/// form.
bool is_extended(long lowpc, long highpc) noexcept {
  return lowpc == kTru64Extended || (lowpc != 0 && highpc == 0);
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_tru64_monitor(long lowpc, long highpc, void* buffer, long bufsize, long) {
  if (!is_extended(lowpc, highpc)) {
    size_t words = bufsize < 0 ? 0 : static_cast<size_t>(bufsize) / sizeof(uint16_t);
    return set_errno(classic_monitor(
        kMonitor, {static_cast<uint64_t>(lowpc), static_cast<uint64_t>(highpc), buffer, words, 0}));
  }
  CallLock lock(g_monitors_mutex);
  int wrong = -1;
  auto count = static_cast<int>(bufsize);  // as in profil: a source may pass an int
  int error = start_extended(static_cast<const pctally_tru64_monitor_args*>(buffer), count, &wrong);
  if (error == 0) return count;
  set_errno(error);
  return wrong;
}

PCTALLY_DIALECT_CALL int pctally_tru64_monstartup(void* lowpc, void* highpc) {
  CallLock lock(g_monitors_mutex);
  MappedArray<TextRange> ranges;
  bool known = lowpc == nullptr && highpc == nullptr ? loaded_text(&ranges)
                                                     : ranges.push_back({address(lowpc), address(highpc)});
  if (!known) return set_errno(ENOMEM);
  if (ranges.size() > kTru64MostEntries) return set_errno(EINVAL);
  return set_errno(start_monitor(kStart, {ranges.data(), ranges.size()}, MonFormat::kGmonOut));
}

PCTALLY_DIALECT_CALL int pctally_tru64_moncontrol(int mode) { return call_moncontrol(kStart, mode); }
