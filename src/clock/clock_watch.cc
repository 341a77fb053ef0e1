#include "clock/clock_watch.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "clock/process_timer.h"
#include "clock/tick_signal.h"

namespace pctally {
namespace {

constexpr uint64_t kTicksPerLook = 16;

ClockWatch::Look g_look = nullptr;
int g_timer = 0;
int g_signal = 0;
unsigned g_busy = 0;  ///< somebody looks, or will never again; a word, for not every machine exchanges bytes

bool is_ours(const siginfo_t* info) noexcept {
  return info->si_code == SI_TIMER && info->si_value.sival_ptr == &g_timer;
}

void on_watch(int, siginfo_t* info, void*) {
  if (!is_ours(info) || __atomic_exchange_n(&g_busy, 1u, __ATOMIC_ACQUIRE)) return;
  int before = errno;
  g_look();
  errno = before;
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
}

Result<void> take_signal() noexcept {
  struct sigaction action;
  if (g_signal != 0 && sigaction(g_signal, nullptr, &action) == 0 && action.sa_sigaction == on_watch)
    return {};
  auto signal = take_free_signal(on_watch, SIGRTMAX);
  if (!signal) return std::unexpected(signal.error());
  g_signal = *signal;
  return {};
}

}  // namespace

Result<void> ClockWatch::start(Clock clock, Look look) noexcept {
  if (g_look != nullptr) return fail(EBUSY, "a clock is watched already");
  if (auto taken = take_signal(); !taken) return taken;
  bool whole = clock == Clock::kProcess;
  auto timer = create_cpu_timer(whole ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID,
                                whole ? 0 : getpid(), g_signal, &g_timer);
  if (!timer) return std::unexpected(timer.error());
  g_timer = *timer;
  g_look = look;
  __atomic_store_n(&g_busy, 0u, __ATOMIC_RELEASE);
  uint64_t interval_ns = kTicksPerLook * kernel_tick_ns();
  if (int error = set_timer(g_timer, interval_ns, interval_ns, false); error != 0) {
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
