#include "clock/timer_self_test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "clock/process_timer.h"
#include "clock/tick_signal.h"
#include "histfile/profile_file.h"

namespace pctally {
namespace {

constexpr uint64_t kPatienceNs = 2000000000;  // of CPU time
constexpr uint64_t kGapNs = 300000;  // longer than the kernel's tick takes, shorter than a turn of another
constexpr unsigned kStretches = 5;
constexpr uint64_t kWakeNs = 250000;  // to be awake before the kernel's tick

uint64_t cpu_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return to_ns(now);
}

/// CPU timers fire at the kernel's tick, which Linux 6.4 and later (and stable kernels since) keep at
/// multiples of its length: sleeping until shortly before one saves most of the time to burn. Elsewhere it
/// saves nothing.
void sleep_until_tick() noexcept {
  const uint64_t tick_ns = kernel_tick_ns(), earliest_ns = monotonic_ns() + kWakeNs;
  if (tick_ns == 0) return;
  uint64_t wake_ns = (earliest_ns / tick_ns + 1) * tick_ns - kWakeNs;
  timespec wake{static_cast<time_t>(wake_ns / 1000000000u), static_cast<long>(wake_ns % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
}

/// True once a tick has come. On a busy machine, or under a tracer, all kernel ticks may fall on others for
/// many milliseconds of our CPU time: what proves that none comes is stretches that are longer than a kernel
/// tick and our own without a gap.
bool burn_until_tick(const uint64_t& ticks) noexcept {
  const uint64_t stretch_ns = kernel_tick_ns() * 5 / 4;
  uint64_t last = monotonic_ns(), began = last, began_cpu = cpu_ns();
  unsigned stretches = 0;
  for (uint64_t cpu = began_cpu, end = cpu + kPatienceNs; stretches < kStretches && cpu < end;
       cpu = cpu_ns()) {
    if (load_relaxed(&ticks) != 0) return true;
    uint64_t now = monotonic_ns();
    bool whole = now - began >= stretch_ns, gap = now - last > kGapNs;
    last = now;
    if (!whole && !gap) continue;
    if (!gap && cpu - began_cpu > stretch_ns / 10 * 9) ++stretches;
    began = now;
    began_cpu = cpu;
  }
  return load_relaxed(&ticks) != 0;
}

}  // namespace

Result<void> test_cpu_timer() noexcept {
  static PublishedTables tables;  // a signal on its way may look at it after the end
  static Ledger ledger;
  tables.slots[0] = RegionTable{};
  tables.slots[0].ledger = &ledger;
  ledger = Ledger{};
  __atomic_store_n(&tables.current, 0, __ATOMIC_RELEASE);
  TickSlot slot;
  if (auto claimed = slot.claim(&tables); !claimed) return claimed;
  auto timer = slot.create_timer(CLOCK_PROCESS_CPUTIME_ID, 0);
  if (!timer) return slot.release(), std::unexpected(timer.error());
  sleep_until_tick();
  bool fired = set_timer(*timer, 1, 1000000, false) == 0 && burn_until_tick(ledger.samples);
  delete_timer(*timer);
  slot.release();
  __atomic_store_n(&tables.current, kNoTable, __ATOMIC_RELEASE);
  if (fired) return {};
  return fail(ENOTSUP, "CPU timers do not fire on this kernel");
}

}  // namespace pctally
