#include "clock/tick_clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/hidden_signals.h"
#include "base/kernel/period.h"
#include "base/time_ns.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"

namespace pctally {
namespace {

constexpr ClockKind kKinds[] = {ClockKind::kNone, ClockKind::kTimer, ClockKind::kTrap};
constexpr char kOldName[] = "thread-timer";
constexpr auto kShortestDrawnNs = static_cast<uint64_t>((1 - kPeriodSpread) * kShortestTrapPeriodNs);

/// A kernel tick in periods, rounded at random so that the mean is exact; 0 if it is shorter than one.
uint32_t kernel_tick_weight(uint64_t period_ns) noexcept {
  uint64_t tick_ns = kernel_tick_ns();
  Random random;
  return tick_ns < period_ns ? 0 : static_cast<uint32_t>((tick_ns + random.below(period_ns)) / period_ns);
}

}  // namespace

const char* clock_name(ClockKind kind) noexcept {
  switch (kind) {
    case ClockKind::kTimer:
      return "timer";
    case ClockKind::kTrap:
      return "trap";
    case ClockKind::kNone:
      break;
  }
  return "manual";
}

bool clock_of(const char* name, ClockKind* kind) noexcept {
  if (strcmp(name, kOldName) == 0) name = clock_name(ClockKind::kTimer);
  for (ClockKind candidate : kKinds) {
    if (strcmp(name, clock_name(candidate)) != 0) continue;
    *kind = candidate;
    return true;
  }
  return false;
}

ClockKind chosen_clock(ClockKind usual) noexcept {
  const char* name = getenv("PCTALLY_ENGINE");
  if (name != nullptr) (void)clock_of(name, &usual);
  return usual;
}

uint64_t tick_grid_ns(ClockKind kind) noexcept { return kind == ClockKind::kTimer ? kernel_tick_ns() : 0; }

int clock_signal(ClockKind kind) noexcept {
  return kind == ClockKind::kNone ? 0 : kind == ClockKind::kTrap ? SIGTRAP : TickSlot::signal_number();
}

namespace {

void reserve_signal() noexcept {
  MutexLock locked(g_threads);
  TickSlot::reserve_signal();
}

}  // namespace

Status TickClock::begin(ClockKind kind) noexcept {
  if (kind == ClockKind::kTrap) {
    if (plan_.period_ns < kShortestDrawnNs) return {EINVAL, "trap takes at most 20000 ticks a second"};
    reserve_signal();
    auto started = trap_.start(tables_, plan_.period_ns, plan_.pace);
    if (started) hook_threads(+1);
    return started;
  }
  const uint32_t weight = plan_.whole_life ? kernel_tick_weight(plan_.period_ns) : 0;
  return timer_.start(tables_, {plan_.period_ns, weight});
}

Status TickClock::start_kind(ClockKind kind) noexcept {
  auto begun = begin(kind);
  if (!begun) return begun;
  kind_ = kind;
  if (TickSlot::signal_number() != 0) hide_signal(TickSlot::signal_number());
  if (kind == ClockKind::kTrap) hide_signal(SIGTRAP);
  return {};
}

Status TickClock::start(PublishedTables* tables, const ClockPlan& plan) noexcept {
  if (running()) return {EBUSY, "the clock is running already"};
  if (plan.period_ns == 0) return {EINVAL, "a clock needs a period"};  // of a file that was cut
  note_own_process();
  tables_ = tables;
  plan_ = plan;
  replaced_ = false;
  auto started = start_kind(plan.kind);
  if (started || plan.insist || plan.kind == ClockKind::kTimer) return started;
  return start_kind(ClockKind::kTimer);
}

void TickClock::stop() noexcept {
  if (trap_.running()) hook_threads(-1);
  timer_.stop();
  trap_.stop();
  kind_ = ClockKind::kNone;
}

void TickClock::forget(Descriptors descriptors) noexcept {
  note_own_process();
  keep_ticks_blocked(NoTicks::kDispatch, false);  // fork(2) turns it off
  if (trap_.running()) hook_threads(-1);
  timer_.forget();
  trap_.forget(descriptors);
  kind_ = ClockKind::kNone;
}

bool TickClock::intact() const noexcept {
  if (kind_ == ClockKind::kTimer) return ThreadTimers::intact();
  return kind_ != ClockKind::kTrap || trap_.intact();
}

Status TickClock::replace() noexcept {
  if (g_threads.held_by_this_thread()) return {EBUSY, "this thread is being listed"};
  stop();
  replaced_ = true;
  bool whole_life = plan_.whole_life;
  plan_.whole_life = false;  // for its first tick is past
  auto started = start_kind(ClockKind::kTimer);
  plan_.whole_life = whole_life;
  return started;
}

Status TickClock::restart(Descriptors descriptors) noexcept {
  ClockPlan plan = plan_;
  plan.insist = false;
  forget(descriptors);
  return start(tables_, plan);
}

}  // namespace pctally
