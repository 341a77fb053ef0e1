// osProfileInit, osProfileStart, osProfileStop, osProfileFlush: the page osProfile(3P) of the Nintendo 64.
//
// Makes the debug library's checks in every call, and bounds every counter by histo_size, which the
// console did not.
#include "pctally/n64.h"

#include <string.h>

#include "base/immortal.h"
#include "dialect/caller_memory.h"
#include "dialect/n64/error.h"
#include "dialect/n64/profile.h"
#include "dialect/n64/protocol.h"
#include "dialect/n64/regions.h"
#include "dialect/session.h"

#define PCTALLY_API extern "C" __attribute__((visibility("default")))

namespace pctally::n64 {
namespace {

using List = MappedArray<pctally_n64_prof>;

struct Profile {
  List list;
  MappedArray<Region> regions;
  uint64_t generation = 0;
  uint32_t period_us = 0;
  uint32_t overflow = 0;
  bool active = false;
  bool timed = false;
};

constinit Immortal<Profile> g_profile GUARDED_BY(g_sessions_mutex);
constinit Session g_session("n64");

Profile& profile() noexcept REQUIRES(g_sessions_mutex) { return *g_profile; }

uintptr_t number_of(const void* pointer) noexcept { return reinterpret_cast<uintptr_t>(pointer); }

/// The console's library compares a quarter of the words: a list that it accepted is accepted here.
bool too_small(const pctally_n64_prof& entry) noexcept {
  uint64_t words = (number_of(entry.text_end) - number_of(entry.text_start)) / 4;
  return entry.histo_size == 0 || words / 4 > entry.histo_size;
}

size_t bytes_of(const pctally_n64_prof& entry) noexcept {
  return size_t{entry.histo_size} * sizeof(uint16_t);
}

Complaint illegal_size(const pctally_n64_prof& entry) noexcept {
  return {PCTALLY_N64_INIT_SIZ, static_cast<int>(entry.histo_size)};
}

Complaint illegal_count(uint32_t count) noexcept { return {PCTALLY_N64_INIT_CNT, static_cast<int>(count)}; }

Complaint check(const pctally_n64_prof& entry) noexcept {
  if (number_of(entry.histo_base) % 4 != 0) return {PCTALLY_N64_INIT_ALN, 0, entry.histo_base};
  if (number_of(entry.text_start) >= number_of(entry.text_end))
    return {PCTALLY_N64_INIT_ORD, 0, entry.text_start, entry.text_end};
  if (too_small(entry) || !writable(entry.histo_base, bytes_of(entry))) return illegal_size(entry);
  return {};
}

bool copy_list(const pctally_n64_prof* from, uint32_t count, List* list) noexcept {
  if (!readable(from, count * sizeof *from) || !list->reserve(count)) return false;
  for (uint32_t i = 0; i < count; ++i) (void)list->push_back(fetch(from + i));
  return true;
}

/// Checks everything before anything is changed.
Complaint check_list(const pctally_n64_prof* given, uint32_t count, List* list) noexcept
    REQUIRES(g_sessions_mutex) {
  if (profile().active) return {PCTALLY_N64_INIT_STR};
  if (count == 0 || count > kMostSections || !copy_list(given, count, list)) return illegal_count(count);
  for (const pctally_n64_prof& entry : *list)
    if (Complaint complaint = check(entry); complaint.code != 0) return complaint;
  return {};
}

Complaint init(const pctally_n64_prof* given, uint32_t count) noexcept {
  SessionsLock lock;
  List list;
  MappedArray<Region> regions;
  if (Complaint complaint = check_list(given, count, &list); complaint.code != 0) return complaint;
  if (!make_regions({list.data(), list.size()}, &regions)) return illegal_count(count);
  if (answers_only()) return {};
  for (const pctally_n64_prof& entry : list) memset(entry.histo_base, 0, bytes_of(entry));
  profile().list = static_cast<List&&>(list);
  profile().regions = static_cast<MappedArray<Region>&&>(regions);
  profile().overflow = 0;
  ++profile().generation;
  return {};
}

/// Without a timer the profile is on all the same: ticks by pctally_count() count, and
/// osProfileStop() reports it.
Complaint start(uint32_t microseconds) noexcept {
  SessionsLock lock;
  Profile& self = profile();
  if (microseconds < PCTALLY_N64_MIN_INTERVAL) return {PCTALLY_N64_START_TIME, PCTALLY_N64_MIN_INTERVAL};
  if (self.active) return {PCTALLY_N64_START_FLAG};
  if (answers_only()) return {};
  Region overflow = overflow_region(&self.overflow);
  SessionPlan plan{{self.regions.data(), self.regions.size()}, &overflow, uint64_t{microseconds} * 1000};
  self.timed = bool(g_session.start(plan));
  plan.period_ns = 0;
  self.active = self.timed || g_session.start(plan);
  self.period_us = microseconds;
  return {};
}

Complaint stop() noexcept {
  SessionsLock lock;
  if (!profile().active) return {PCTALLY_N64_STOP_FLAG};
  bool had_timer = profile().timed && g_session.on();  // off: a child of fork(2) got no timer of its own
  if (answers_only()) return had_timer ? Complaint{} : Complaint{PCTALLY_N64_STOP_TIMER};
  g_session.stop();
  profile().active = false;
  if (!had_timer) return {PCTALLY_N64_STOP_TIMER};
  return {};
}

}  // namespace

Summary summary() noexcept {
  SessionsLock lock;
  const Profile& self = profile();
  return {self.generation, static_cast<uint32_t>(self.list.size()), self.period_us,
          __atomic_load_n(&self.overflow, __ATOMIC_RELAXED)};
}

bool section(uint64_t generation, uint32_t index, Section* section) noexcept {
  SessionsLock lock;
  if (generation != profile().generation) return false;
  const pctally_n64_prof& entry = profile().list[index];
  *section = {number_of(entry.text_start), entry.histo_size};
  return true;
}

bool read_counters(uint64_t generation, uint32_t section, uint32_t first, uint32_t count, uint16_t* to,
                   UserMemory* memory) noexcept {
  SessionsLock lock;
  if (generation != profile().generation) return false;
  const uint16_t* from = profile().list[section].histo_base + first;
  MemoryRead done = memory->read(from, to, count * sizeof(uint16_t));
  if (done == MemoryRead::kGone) memset(to, 0, count * sizeof(uint16_t));
  return done != MemoryRead::kNoPipe;
}

}  // namespace pctally::n64

using namespace pctally::n64;

PCTALLY_API void osProfileInit(struct pctally_n64_prof* profp, uint32_t profcnt) {
  Complaint complaint = init(profp, profcnt);
  if (complaint.code == 0) start_io_thread();
  report(complaint);
}

PCTALLY_API void osProfileStart(uint32_t microseconds) { report(start(microseconds)); }

PCTALLY_API void osProfileStop(void) { report(stop()); }

PCTALLY_API void osProfileFlush(void) { flush(); }
