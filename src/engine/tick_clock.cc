#include "engine/tick_clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/period.h"

namespace pctally {
namespace {

constexpr ClockKind kKinds[] = {ClockKind::kNone, ClockKind::kTimer, ClockKind::kTrap,
                                ClockKind::kThreadTimer};

uint64_t random_phase(uint64_t period_ns) noexcept {
  Random random;
  return 1 + random.below(period_ns);
}

}  // namespace

const char* clock_name(ClockKind kind) noexcept {
  switch (kind) {
    case ClockKind::kTimer:
      return "timer";
    case ClockKind::kTrap:
      return "trap";
    case ClockKind::kThreadTimer:
      return "thread-timer";
    case ClockKind::kNone:
      break;
  }
  return "manual";
}

bool clock_of(const char* name, ClockKind* kind) noexcept {
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

uint64_t tick_grid_ns(ClockKind kind) noexcept {
  return kind == ClockKind::kTimer || kind == ClockKind::kThreadTimer ? kernel_tick_ns() : 0;
}

int clock_signal(ClockKind kind) noexcept {
  return kind == ClockKind::kNone ? 0 : kind == ClockKind::kTrap ? SIGTRAP : TickSlot::signal_number();
}

Result<void> TickClock::begin(ClockKind kind) noexcept {
  if (kind == ClockKind::kTrap) {
    TickSlot::reserve_signal();
    return trap_.start(tables_, plan_.period_ns, plan_.pace);
  }
  if (kind == ClockKind::kThreadTimer) return thread_timers_.start(tables_, plan_.period_ns);
  return timer_.start(tables_, plan_.period_ns, random_phase(plan_.period_ns));
}

Result<void> TickClock::start_kind(ClockKind kind) noexcept {
  auto begun = begin(kind);
  if (begun) kind_ = kind;
  return begun;
}

Result<void> TickClock::start(PublishedTables* tables, const ClockPlan& plan) noexcept {
  if (running()) return fail(EBUSY, "the clock is running already");
  tables_ = tables;
  plan_ = plan;
  auto started = start_kind(plan.kind);
  if (started || plan.insist || plan.kind == ClockKind::kTimer) return started;
  return start_kind(ClockKind::kTimer);
}

void TickClock::stop() noexcept {
  timer_.stop();
  trap_.stop();
  thread_timers_.stop();
  kind_ = ClockKind::kNone;
}

void TickClock::forget() noexcept {
  timer_.forget();
  trap_.forget();
  thread_timers_.forget();
  kind_ = ClockKind::kNone;
}

Result<void> TickClock::restart() noexcept {
  ClockPlan plan = plan_;
  plan.insist = false;
  forget();
  return start(tables_, plan);
}

}  // namespace pctally
