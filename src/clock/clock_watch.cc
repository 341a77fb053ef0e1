#include "clock/clock_watch.h"

#include <sched.h>
#include <unistd.h>

#include "base/errno_kept.h"
#include "base/kernel/kernel_timer.h"
#include "base/time_ns.h"
#include "clock/thread_hook.h"
#include "clock/tick_signal.h"

namespace pctally {
namespace {

constexpr uint64_t kTicksPerCheck = 16;

ClockWatch::Check g_check = nullptr;
int g_timer = 0;
unsigned g_busy =
    0;  ///< a check runs, or none will run any more; a word, for not every machine exchanges bytes

void on_watch() noexcept {
  if (has_seccomp_filter() || __atomic_exchange_n(&g_busy, 1u, __ATOMIC_ACQUIRE)) return;
  const ErrnoKept kept;
  if (g_check != nullptr) g_check();
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
}

}  // namespace

Status ClockWatch::start(Check check) noexcept {
  if (g_check != nullptr) return {EBUSY, "a clock is watched already"};
  {
    MutexLock locked(g_threads);
    TickSlot::reserve_signal();
  }
  if (TickSlot::signal_number() == 0) return {EAGAIN, "no free signal for the watch"};
  on_signal_with(&g_timer, on_watch);
  if (auto made = create_thread_timer(getpid(), TickSlot::signal_number(), &g_timer, &g_timer); !made)
    return made;
  g_check = check;
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
  uint64_t interval_ns = kTicksPerCheck * kernel_tick_ns();
  if (int error = set_timer(g_timer, interval_ns, interval_ns); error != 0) {
    stop();
    return {error, "timer_settime:"};
  }
  return {};
}

void ClockWatch::stop() noexcept {
  if (g_check == nullptr) return;
  while (__atomic_exchange_n(&g_busy, 1u, __ATOMIC_ACQUIRE)) sched_yield();
  delete_timer(g_timer);
  g_check = nullptr;
}

void ClockWatch::forget() noexcept { g_check = nullptr; }

}  // namespace pctally
