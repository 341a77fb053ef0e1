#include "clock/process_timer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "histfile/profile_file.h"

namespace pctally {

Result<void> ProcessTimer::arm(uint64_t period_ns, uint64_t first_ns) noexcept {
  auto timer = slot_.create_timer(CLOCK_PROCESS_CPUTIME_ID, 0);
  if (!timer) return std::unexpected(timer.error());
  timer_ = *timer;
  int error = set_timer(timer_, first_ns, period_ns, false);
  if (error == 0) return {};
  delete_timer(timer_);
  return fail(error, "timer_settime: %s", strerror(error));
}

Result<void> ProcessTimer::start(PublishedTables* tables, uint64_t period_ns, uint64_t first_ns,
                                 uint32_t first_weight) noexcept {
  if (running()) return fail(EBUSY, "the timer is running already");
  if (auto claimed = slot_.claim(tables, first_weight); !claimed) return claimed;
  auto armed = arm(period_ns, first_ns);
  if (!armed) slot_.release();
  return armed;
}

void ProcessTimer::stop() noexcept {
  if (!running()) return;
  delete_timer(timer_);
  slot_.release();
}

void ProcessTimer::forget() noexcept { slot_.release(); }

uint64_t kernel_tick_ns() noexcept {
  timespec coarse{};
  // The coarse clock moves once a kernel tick and says how far.
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) != 0) return 0;
  return to_ns(coarse);
}

}  // namespace pctally
