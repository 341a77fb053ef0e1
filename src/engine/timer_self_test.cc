#include "engine/timer_self_test.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "engine/tick_signal.h"

namespace pctally {
namespace {

constexpr uint64_t kPatienceNs = 50000000;  // five ticks of the slowest kernels

uint64_t cpu_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

/// True once a tick has come.
bool burn_until_tick(const uint64_t& ticks) noexcept {
  for (uint64_t end = cpu_ns() + kPatienceNs; cpu_ns() < end;)
    if (__atomic_load_n(&ticks, __ATOMIC_RELAXED) != 0) return true;
  return false;
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
  bool fired = set_timer(*timer, 1, 1000000, false) == 0 && burn_until_tick(ledger.samples);
  delete_timer(*timer);
  slot.release();
  __atomic_store_n(&tables.current, kNoTable, __ATOMIC_RELEASE);
  if (fired) return {};
  return fail(ENOTSUP, "CPU timers do not fire on this kernel");
}

}  // namespace pctally
