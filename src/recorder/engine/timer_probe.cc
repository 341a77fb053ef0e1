#include "recorder/engine/timer_probe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "base/time_ns.h"
#include "clock/last_delivery.h"
#include "clock/thread_timers.h"
#include "histfile/profile_file.h"

namespace pctally {
namespace {

constexpr uint64_t kPatienceNs = 2000000000;  // of CPU time
constexpr uint64_t kGapNs = 300000;  // longer than the kernel's tick takes, shorter than a turn of another
constexpr unsigned kStretches = 5;
constexpr uint64_t kWakeNs = 250000;  // to be awake before the kernel's tick
constexpr uint64_t kPeriodNs =
    kWakeNs / 4;  // the timer has run out at that tick, and not only at the next one

/// CPU timers fire at the kernel's tick, which Linux 6.4 and later (and stable kernels since) keep at
/// multiples of its length: sleeping until shortly before one saves most of the time to burn. Elsewhere
/// it saves nothing.
void sleep_until_tick() noexcept {
  const uint64_t tick_ns = kernel_tick_ns(), earliest_ns = monotonic_ns() + kWakeNs;
  if (tick_ns == 0) return;
  uint64_t wake_ns = (earliest_ns / tick_ns + 1) * tick_ns - kWakeNs;
  timespec wake{static_cast<time_t>(wake_ns / 1000000000u), static_cast<long>(wake_ns % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
}

/// True once a tick has come to this thread. On a busy machine, or under a tracer, all kernel ticks may fall
/// on others for many milliseconds of our CPU time: what proves that none comes is stretches that are longer
/// than a kernel tick and our own without a gap.
bool burn_until_tick() noexcept {
  const uint64_t stretch_ns = kernel_tick_ns() * 5 / 4;
  t_last_delivery = {};
  sleep_until_tick();
  uint64_t last = monotonic_ns(), began = last, began_cpu = thread_cpu_ns();
  unsigned stretches = 0;
  const void* const volatile& delivered = t_last_delivery.context;
  for (uint64_t cpu = began_cpu, end = cpu + kPatienceNs; stretches < kStretches && cpu < end;
       cpu = thread_cpu_ns()) {
    if (delivered != nullptr) return true;
    uint64_t now = monotonic_ns();
    bool whole = now - began >= stretch_ns, gap = now - last > kGapNs;
    last = now;
    if (!whole && !gap) continue;
    if (!gap && cpu - began_cpu > stretch_ns / 10 * 9) ++stretches;
    began = now;
    began_cpu = cpu;
  }
  return delivered != nullptr;
}

void* burn_beside(void* fired) {
  *static_cast<bool*>(fired) = burn_until_tick();
  return nullptr;
}

/// The calling thread is not to get ticks while it waits for the other.
Status burn_in_both() noexcept {
  bool fired = false;
  if (!burn_until_tick()) return {ENOTSUP, "CPU timers do not fire on this kernel"};
  pthread_t thread;
  t_last_delivery = {};
  const int error = pthread_create(&thread, nullptr, burn_beside, &fired);
  if (error != 0) return {error, "pthread_create:"};
  pthread_join(thread, nullptr);
  return fired ? Status() : Status(ENOTSUP, "CPU timers of threads do not fire on this kernel");
}

}  // namespace

Status probe_cpu_timer() noexcept {
  static PublishedTables tables;  // a signal on its way may look at it after the end
  static Ledger ledger;
  static ThreadTimers timers;
  tables.slots[0] = RegionTable{};
  tables.slots[0].ledger = &ledger;
  ledger = Ledger{};
  __atomic_store_n(&tables.current, 0, __ATOMIC_RELEASE);
  auto tested = timers.start(&tables, {kPeriodNs});
  if (tested) tested = burn_in_both();
  timers.stop();
  __atomic_store_n(&tables.current, kNoTable, __ATOMIC_RELEASE);
  return tested;
}

}  // namespace pctally
