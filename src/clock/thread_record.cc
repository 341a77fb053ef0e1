#include "clock/thread_record.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock/own_process.h"

namespace pctally {

constinit Mutex g_threads;

namespace {

ThreadRecord* g_records = nullptr;           ///< mapped under the lock; handlers read where it is
unsigned g_count GUARDED_BY(g_threads) = 0;  ///< that were ever in use
unsigned g_free GUARDED_BY(g_threads) = 0;   ///< first of the free list, by index + 1
pid_t g_process = 0;
char* g_known = nullptr;  ///< not 0 in that process; null: the number has to do

bool map_records() noexcept {
  if (g_records != nullptr) return true;
  void* memory = mmap(nullptr, kMostThreads * sizeof(ThreadRecord), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  __atomic_store_n(&g_records, static_cast<ThreadRecord*>(memory), __ATOMIC_RELEASE);
  return true;
}

void know_process() noexcept {
  g_process = getpid();
  if (g_known != nullptr) *g_known = 1;
}

}  // namespace

bool forget_threads() noexcept {
  if (g_process == getpid() && (g_known == nullptr || *g_known != 0)) return false;
  if (g_process != 0) know_process();
  g_threads.reset();
  MutexLock locked(g_threads);
  for (unsigned i = 0; i < g_count; ++i) g_records[i].used = false;
  g_count = g_free = 0;
  return true;
}

ThreadRecord* take_thread_record() noexcept {
  if (g_process == 0) {
    g_known = page_cleared_in_children();
    know_process();
  }
  if (!map_records()) return nullptr;
  unsigned index = g_free;
  if (index != 0)
    g_free = g_records[index - 1].next;
  else if (g_count < kMostThreads)
    index = ++g_count;
  else
    return nullptr;
  ThreadRecord* record = &g_records[index - 1];
  *record = ThreadRecord{};
  for (ThreadTimer& timer : record->timers) timer.id = kNoTimer;
  record->used = true;
  return record;
}

void give_back(ThreadRecord* record) noexcept {
  record->used = false;
  record->next = g_free;
  g_free = static_cast<unsigned>(record - g_records) + 1;
}

ThreadRecord* thread_records() noexcept { return g_records; }
unsigned thread_record_count() noexcept { return g_count; }

ThreadTimer* thread_timer_at(void* address, unsigned* clock, ThreadRecord** record) noexcept {
  ThreadRecord* records = __atomic_load_n(&g_records, __ATOMIC_ACQUIRE);
  const auto distance = reinterpret_cast<uintptr_t>(address) - reinterpret_cast<uintptr_t>(records);
  if (records == nullptr || distance >= kMostThreads * sizeof(ThreadRecord)) return nullptr;
  ThreadRecord* owner = &records[distance / sizeof(ThreadRecord)];
  const auto within = distance % sizeof(ThreadRecord) - offsetof(ThreadRecord, timers);
  if (within >= sizeof owner->timers || within % sizeof(ThreadTimer) != 0) return nullptr;
  *clock = static_cast<unsigned>(within / sizeof(ThreadTimer));
  *record = owner;
  return &owner->timers[*clock];
}

}  // namespace pctally
