#include "clock/thread_timers.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <new>

#include "base/period.h"
#include "clock/thread_list.h"
#include "histfile/profile_file.h"

namespace pctally {
namespace {

constexpr uint64_t kShortestLookNs = 10000000;  ///< between two looks while the process is busy
constexpr uint64_t kLongestLookNs = 64000000;   ///< while it sleeps
constexpr uint64_t kLookShare = 100;            ///< and at least so many times as long as a look takes

/// The kernel's number for the CPU clock of a thread of this process.
int clock_of(pid_t thread) noexcept { return static_cast<int>((~static_cast<unsigned>(thread) << 3) | 6u); }

uint64_t now_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return to_ns(now);
}

unsigned quarter_of_pending_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0 || limit.rlim_cur / 4 > 1000000) return 1000000;
  return static_cast<unsigned>(limit.rlim_cur / 4);
}

}  // namespace

int ThreadTimers::arm(pid_t thread, bool newborn) noexcept {
  if (armed_ >= most_) return -1;
  auto timer = slot_.create_timer(clock_of(thread), thread);
  if (!timer) return -1;
  Random random;
  if (set_timer(*timer, 1 + random.below(period_ns_), period_ns_, newborn) != 0) {
    delete_timer(*timer);
    return -1;
  }
  ++armed_;
  return *timer;
}

void ThreadTimers::drop_unseen() noexcept {
  for (size_t i = timers_.size(); i-- > 0;) {
    if (timers_[i].seen) continue;
    if (timers_[i].timer >= 0) delete_timer(timers_[i].timer), --armed_;
    timers_.erase(i);
  }
}

/// Gives the threads that have none a timer, and takes those of ended threads back.
Result<void> ThreadTimers::adopt(bool newborn) noexcept {
  MappedArray<pid_t> threads;
  if (auto listed = list_threads(&threads); !listed) return listed;
  for (ThreadTimer& known : timers_) known.seen = false;
  size_t old = timers_.size(), at = 0;
  for (pid_t thread : threads) {
    // Both lists are in the kernel's order, the older threads first.
    size_t i = at;
    while (i < old && timers_[i].thread != thread) ++i;
    if (i < old) {
      timers_[i].seen = true;
      at = i + 1;
    } else if (thread != own_thread_ && !timers_.push_back({thread, arm(thread, newborn), true})) {
      return fail(ENOMEM, "no memory for the list of timers");
    }
  }
  drop_unseen();
  return {};
}

/// The program has taken ours: all timers are made anew, on the next free one.
void ThreadTimers::change_signal() noexcept {
  for (ThreadTimer& known : timers_) known.seen = false;
  drop_unseen();
  TickSlot::reserve_signal();
  (void)adopt(false);
}

/// The helper's work.
uint64_t ThreadTimers::look(void* self) noexcept {
  auto* timers = static_cast<ThreadTimers*>(self);
  if (timers->own_thread_ == 0) timers->own_thread_ = static_cast<pid_t>(syscall(SYS_gettid));
  uint64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID), began_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
  bool busy = cpu_ns - timers->looked_ns_ > timers->interval_ns_ / 16;
  timers->looked_ns_ = cpu_ns;
  if (TickSlot::stolen()) timers->change_signal();
  (void)timers->adopt(true);
  uint64_t took_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
  uint64_t next = busy ? kShortestLookNs : timers->interval_ns_ * 2;
  if (next > kLongestLookNs) next = kLongestLookNs;
  timers->interval_ns_ = next > kLookShare * took_ns ? next : kLookShare * took_ns;
  return timers->interval_ns_;
}

Result<void> ThreadTimers::start(PublishedTables* tables, uint64_t period_ns) noexcept {
  if (running()) return fail(EBUSY, "the thread timers are running already");
  if (auto claimed = slot_.claim(tables); !claimed) return claimed;
  period_ns_ = period_ns;
  own_thread_ = 0;
  armed_ = 0;
  most_ = quarter_of_pending_limit();
  interval_ns_ = kShortestLookNs;
  auto started = adopt(false);
  if (started && armed_ == 0) started = fail(EAGAIN, "no CPU timer is to be had for a thread");
  if (started) started = helper_.start(look, this);
  if (!started) stop();
  return started;
}

void ThreadTimers::stop() noexcept {
  if (!running()) return;
  helper_.stop();
  for (ThreadTimer& known : timers_) known.seen = false;
  drop_unseen();
  timers_ = MappedArray<ThreadTimer>();
  slot_.release();
}

void ThreadTimers::forget() noexcept {
  helper_.forget();
  new (&timers_) MappedArray<ThreadTimer>();  // the helper may have been in the middle of it
  slot_.release();
}

}  // namespace pctally
