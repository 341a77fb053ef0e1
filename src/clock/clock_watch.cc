#include "clock/clock_watch.h"

#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "clock/kernel_timer.h"
#include "clock/thread_hook.h"
#include "clock/tick_signal.h"

namespace pctally {
namespace {

constexpr uint64_t kTicksPerLook = 16;

ClockWatch::Look g_look = nullptr;
int g_timer = 0;
unsigned g_busy = 0;  ///< somebody looks, or will never again; a word, for not every machine exchanges bytes

void on_watch() noexcept {
  if (has_seccomp_filter() || __atomic_exchange_n(&g_busy, 1u, __ATOMIC_ACQUIRE)) return;
  int before = errno;
  if (g_look != nullptr) g_look();
  errno = before;
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
}

}  // namespace

Result<void> ClockWatch::start(Look look) noexcept {
  if (g_look != nullptr) return fail(EBUSY, "a clock is watched already");
  TickSlot::reserve_signal();
  if (TickSlot::signal_number() == 0) return fail(EAGAIN, "no free signal for the watch");
  on_signal_with(&g_timer, on_watch);
  auto timer = create_thread_timer(getpid(), TickSlot::signal_number(), &g_timer);
  if (!timer) return std::unexpected(timer.error());
  g_timer = *timer;
  g_look = look;
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
  uint64_t interval_ns = kTicksPerLook * kernel_tick_ns();
  if (int error = set_timer(g_timer, interval_ns, interval_ns); error != 0) {
    stop();
    return fail(error, "timer_settime for the watch failed");
  }
  return {};
}

void ClockWatch::stop() noexcept {
  if (g_look == nullptr) return;
  while (__atomic_exchange_n(&g_busy, 1u, __ATOMIC_ACQUIRE)) sched_yield();
  delete_timer(g_timer);
  g_look = nullptr;
}

void ClockWatch::forget() noexcept { g_look = nullptr; }

}  // namespace pctally
