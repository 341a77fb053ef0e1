#include "dialect/monitor/start_monitor.h"

#include "dialect/call.h"
#include "dialect/monitor/classic_monitor.h"
#include "dialect/session.h"

namespace pctally {
namespace {

uint64_t start_of(const StartMonitor& system, const TextRange& range) noexcept {
  return range.low / system.width * system.width;
}

uint64_t counters_for(const StartMonitor& system, const TextRange& range) noexcept {
  return (range.high - start_of(system, range) - 1) / system.width + 1;
}

/// All its counters lie in one piece of memory, so that they can be cleared and written as one.
bool add_regions(const StartMonitor& system, const TextRange& range, unsigned char** counters,
                 MappedArray<Region>* regions) noexcept {
  for (uint64_t low = start_of(system, range); low < range.high; low += system.longest) {
    uint64_t high = range.high - low < system.longest ? range.high : low + system.longest;
    CellBuffer cells{*counters, counters_for(system, {low, high}) << cell_shift(system.kind), system.kind};
    if (!regions->push_back(monitor_region(system.policy, cells, low, high, system.scale))) return false;
    *counters += cells.bytes;
    if (range.high - low <= system.longest) break;
  }
  return true;
}

/// False too if the program has ended the profile by a call of its own.
bool is_counting(const StartMonitor& system) noexcept REQUIRES(g_monitors_mutex) {
  if (!system.monitor.active()) return false;
  SessionsLock lock;
  const Session* session = session_of(system.system);
  return session != nullptr && session->on();
}

/// Does nothing without a monitor. One that has ended counts as one only if the system resumes it. Returns 0
/// or an errno.
int control_monitor(const StartMonitor& system, bool on) noexcept REQUIRES(g_monitors_mutex) {
  if (!on) {
    if (system.monitor.active()) system.monitor.pause();
    return 0;
  }
  if (system.monitor.regions().empty() || answers_only()) return 0;
  if (int error = system.profil(system.monitor.regions()); error != 0) return error;
  system.monitor.set_running();
  return 0;
}

}  // namespace

int start_monitor(const StartMonitor& system, std::span<const TextRange> text, MonFormat format) noexcept {
  uint64_t counters = 0;
  if (text.empty()) return EINVAL;
  for (const TextRange& range : text) {
    if (range.low >= range.high) return EINVAL;
    counters += counters_for(system, range);
  }
  if (answers_only()) return 0;
  system.monitor.finish();
  system.monitor.drop();  // ends the program's own profil, of the same system, too
  if (counters > SIZE_MAX >> cell_shift(system.kind)) return ENOMEM;
  auto* memory = static_cast<unsigned char*>(system.monitor.allocate(counters << cell_shift(system.kind)));
  if (memory == nullptr) return ENOMEM;
  auto* histogram = reinterpret_cast<uint16_t*>(memory);
  MappedArray<Region> regions;
  for (const TextRange& range : text)
    if (!add_regions(system, range, &memory, &regions)) return ENOMEM;
  if (int error = system.profil({regions.data(), regions.size()}); error != 0) return error;
  MonitorPlan plan{.regions = {regions.data(), regions.size()},
                   .format = format,
                   .histogram = {},
                   .until_exit = true,
                   .resumable = system.resumable};
  if (format == MonFormat::kMonOut)
    plan.histogram = {.low = start_of(system, text[0]),
                      .high = text[0].high,
                      .calls = nullptr,
                      .call_counts = 0,
                      .counters = {histogram, static_cast<size_t>(counters)}};
  return system.monitor.keep(plan);
}

void call_monstartup(const StartMonitor& system, uint64_t low, uint64_t high, const char* call) noexcept {
  CallLock lock(g_monitors_mutex);
  TextRange text{low, high};
  set_errno(start_monitor(system, {&text, 1}, MonFormat::kGmonOut), call);
}

int call_moncontrol(const StartMonitor& system, int mode, const char* call) noexcept {
  CallLock lock(g_monitors_mutex);
  int before = is_counting(system) ? 1 : 0;
  int error = control_monitor(system, mode != 0);
  return error == 0 ? before : set_errno(error, call);
}

void call_mcleanup(const StartMonitor& system) noexcept {
  CallLock lock(g_monitors_mutex);
  system.monitor.finish();
}

}  // namespace pctally
