#include "dialect/monitor/monitor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fork_hook.h"
#include "base/time_ns.h"
#include "dialect/caller_memory.h"
#include "dialect/monitor/text_object.h"
#include "dialect/session.h"
#include "dialect/verbose.h"
#include "monfile/write/gmon_out.h"

namespace pctally {

void finish_at_exit() noexcept;

constinit Mutex g_monitors_mutex;

namespace {

constexpr unsigned kMostMonitors = 8;
Monitor* g_monitors[kMostMonitors] GUARDED_BY(g_monitors_mutex) = {};
bool g_any = false;  ///< of them; read at the end of programs that have none, without the lock

void enlist(Monitor* monitor) noexcept REQUIRES(g_monitors_mutex) {
  for (Monitor*& entry : g_monitors) {
    if (entry == monitor) return;
    if (entry != nullptr) continue;
    entry = monitor;
    __atomic_store_n(&g_any, true, __ATOMIC_RELAXED);
    return;
  }
}

pid_t g_owner = 0;  ///< the process whose monitors these are; another one runs in its memory

void in_child() { g_owner = getpid(); }

// Every monitor takes this lock before its profil's.
const ForkHook g_fork_hook(1, &g_monitors_mutex, in_child);

/// PCTALLY_MONITOR=gmon.out: also for calls that write mon.out of themselves.
bool gmon_wanted() noexcept {
  const char* wanted = secure_getenv("PCTALLY_MONITOR");
  return wanted != nullptr && strcmp(wanted, "gmon.out") == 0;
}

size_t cell_bytes(const Region& region) noexcept { return region.rule.cells << region.rule.cell_shift; }

/// Adds the object's name, and a number if objects of that name have been named before.
bool name_behind(MonPath* path, const TextObject& object, MappedArray<TextObject>* named) noexcept {
  unsigned number = 1;
  for (const TextObject& before : *named) number += strcmp(before.name, object.name) == 0 ? 1 : 0;
  size_t length = strlen(path->text);
  char* end = path->text + length;
  if (number == 1)
    snprintf(end, sizeof path->text - length, ".%s", object.name);
  else
    snprintf(end, sizeof path->text - length, ".%s-%u", object.name, number);
  return named->push_back(object);
}

}  // namespace

int Monitor::keep(const MonitorPlan& plan) noexcept {
  enlist(this);
  g_owner = getpid();
  if (!regions_->assign(plan.regions)) {
    pause();
    return ENOMEM;
  }
  format_ = plan.format;
  histogram_ = plan.histogram;
  until_exit_ = plan.until_exit;
  resumable_ = plan.resumable;
  finished_ = false;
  return 0;
}

void* Monitor::allocate(size_t bytes) noexcept {
  MappedArray<unsigned char> fresh;
  if (!fresh.reserve(bytes != 0 ? bytes : 1)) return nullptr;
  *own_ = static_cast<MappedArray<unsigned char>&&>(fresh);  // exchanged: the old one ends with this call
  return own_->data();
}

void Monitor::finish() noexcept {
  if (!active() || answers_only()) return;
  int error = errno;
  pause();
  save();
  if (resumable_)
    finished_ = true;
  else
    regions_->clear();
  errno = error;
}

void Monitor::drop() noexcept {
  if (answers_only()) return;
  pause();
  regions_->clear();
}

void Monitor::save() noexcept {
  if (auto written = write(); !written) say("%s", written.error().text);
}

Result<void> Monitor::write() noexcept {
  for (const Region& region : *regions_)
    if (!readable(region.cells, cell_bytes(region)))
      return fail(EFAULT, "no profile written: the counters are gone; end monitor before the buffer goes");
  return format_ == MonFormat::kMonOut && !gmon_wanted() ? write_mon(text_object((*regions_)[0].low).base)
                                                         : write_gmon();
}

Result<void> Monitor::write_mon(uint64_t base) noexcept {
  auto path = mon_path(row_.naming, "mon.out");
  if (!path) return std::unexpected(path.error());
  if (*path->text == '\0') return {};
  if (!readable(histogram_.calls, histogram_.call_counts * sizeof(MonCallCount)))
    return fail(EFAULT, "no profile written: the call counts are gone");
  auto file = MonFile::create(*path);
  if (!file) return std::unexpected(file.error());
  write_mon_out(&*file, histogram_, base);
  return file->close();
}

/// A file holds the addresses of one object. The program's, or that of the first region, has the plain name.
Result<void> Monitor::write_gmon() noexcept {
  auto path = mon_path(row_.naming, "gmon.out");
  if (!path) return std::unexpected(path.error());
  if (*path->text == '\0') return {};
  size_t plain = 0;
  for (size_t i = regions_->size(); i-- > 0;)
    if (text_object((*regions_)[i].low).is_program) plain = i;
  Result<void> all;
  MappedArray<TextObject> named;
  for (size_t first = 0, count = 0; first < regions_->size(); first += count) {
    TextObject object = text_object((*regions_)[first].low);
    for (count = 1; first + count < regions_->size(); ++count)  // the regions of one object are neighbours
      if (!(text_object((*regions_)[first + count].low) == object)) break;
    MonPath its = *path;
    if (bool is_plain = plain - first < count; !is_plain && !name_behind(&its, object, &named))
      return fail(ENOMEM, "no profile written: no memory for the names of the files");
    auto written = write_object({regions_->data() + first, count}, object.base, its);
    if (all && !written) all = written;
  }
  return all;
}

Result<void> Monitor::write_object(std::span<const Region> regions, uint64_t base,
                                   const MonPath& path) noexcept {
  auto file = MonFile::create(path);
  if (!file) return std::unexpected(file.error());
  auto hertz = static_cast<uint32_t>((kNsPerSecond + row_.period_ns / 2) / row_.period_ns);
  uint64_t cut = write_gmon_out(&*file, regions, base, hertz);
  if (auto closed = file->close(); !closed) return closed;
  if (cut == 0) return {};
  return fail(ERANGE, "%llu ticks of counters above 2147483647 are not in %s: gprof could not add them up",
              static_cast<unsigned long long>(cut), path.text);
}

/// The monitor that a child of vfork(2) finds is its parent's, and stays on. The child writes the file all
/// the same: its exit(3) has run the destructors in the parent's memory, so that the C library runs none at
/// the parent's end.
void finish_at_exit() noexcept {
  CallLock lock(g_monitors_mutex);
  const bool lent = getpid() != g_owner;
  for (Monitor* monitor : g_monitors) {
    if (monitor == nullptr || !monitor->until_exit_ || !monitor->active()) continue;
    if (lent)
      monitor->save();
    else
      monitor->finish();
  }
}

namespace {
__attribute__((destructor)) void at_exit() {
  if (__atomic_load_n(&g_any, __ATOMIC_RELAXED) && !ends_behind_filter()) finish_at_exit();
}
}  // namespace

}  // namespace pctally
