#include "clock/thread_timers.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_kept.h"
#include "base/kernel/kernel_timer.h"
#include "base/kernel/period.h"
#include "base/next_call.h"
#include "base/time_ns.h"
#include "clock/thread_hook.h"
#include "clock/thread_list.h"
#include "clock/threads_lock.h"
#include "clock/tick_path.h"
#include "histfile/profile_file.h"

namespace pctally {
namespace {

constexpr unsigned kMostTimers = 1000000;
constexpr uint64_t kStartAndEndNs = 500000;  ///< of a thread, that no reading of its clock has seen: at most
constexpr uint64_t kOurStartNs = 5000000;    ///< of the process, before its threads were listed

unsigned g_until_sweep GUARDED_BY(g_threads) = 0;  ///< how often there will be no room before the next sweep
unsigned g_armed GUARDED_BY(g_threads) = 0;
unsigned g_most GUARDED_BY(g_threads) = 0;
uint64_t g_ended_ns GUARDED_BY(g_threads) = 0;  ///< CPU time of threads that made their timers themselves,
unsigned g_ended GUARDED_BY(g_threads) = 0;     ///< and how many have ended
unsigned long g_untimed_us[kUntimedReasons] = {};

/// A quarter of RLIMIT_SIGPENDING: the rest is the program's.
unsigned most_timers() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_SIGPENDING, &limit) != 0 || limit.rlim_cur / 4 > kMostTimers) return kMostTimers;
  return limit.rlim_cur < 8 ? 1 : static_cast<unsigned>(limit.rlim_cur / 4);
}

/// By pot the first expiry comes at once, so that the first kernel tick delivers it, however short the thread
/// is against the period: what it claims too much is taken off the pot. So it is at the beginning of a
/// process where the period is no longer than the kernel's tick; elsewhere it comes at a random phase.
uint64_t first_expiry_ns(Booking booking, uint64_t period_ns) noexcept {
  static Random random;
  if (booking == Booking::kByPot) return 1;
  if (booking == Booking::kFirstWeighs && period_ns <= kernel_tick_ns()) return 1;
  return 1 + random.below(period_ns);
}

Status create_timer(pid_t thread, ThreadTimer* timer, int* id) noexcept REQUIRES(g_threads) {
  for (const int before = errno;;) {
    auto created = create_thread_timer(thread, TickSlot::signal_number(), timer, id);
    if (created.error() == EINVAL && TickSlot::go_lower()) continue;
    if (created) errno = before, TickSlot::prove_signal();
    return created;
  }
}

void disarm(ThreadTimer* timer) noexcept REQUIRES(g_threads) {
  if (timer->id == kNoTimer) return;
  delete_timer(timer->id);
  timer->id = kNoTimer;
  --g_armed;
}

uint64_t booked_ns(const ThreadRecord& record) noexcept {
  uint64_t most_ns = 0;
  for (const ThreadTimer& timer : record.timers)
    if (timer.booked_ns > most_ns) most_ns = timer.booked_ns;
  return most_ns;
}

/// Lets go of a thread that has ended. The kernel does not delete its timers, and its number may come again.
void let_go(ThreadRecord* record) noexcept REQUIRES(g_threads) {
  g_ended_ns += booked_ns(*record);
  ++g_ended;
  for (ThreadTimer& timer : record->timers) disarm(&timer);
  give_back(record);
}

/// Threads that were only met; and those that ended by the bare exit(2). Returns how many.
unsigned let_go_of_ended() noexcept REQUIRES(g_threads) {
  unsigned ended = 0;
  ThreadRecord* records = thread_records();
  for (unsigned i = 0; i < thread_record_count(); ++i) {
    ThreadRecord& record = records[i];
    if (!record.used || record.thread == 0) continue;
    if (syscall(SYS_tgkill, getpid(), record.thread, 0) == 0) continue;
    let_go(&record);
    ++ended;
  }
  return ended;
}

/// Where records or timers are used up. A sweep costs a system call for each record; the less it finds, the
/// longer it is to the next.
void sweep() noexcept REQUIRES(g_threads) {
  const ErrnoKept kept;
  if (g_until_sweep != 0)
    --g_until_sweep;
  else
    g_until_sweep = thread_record_count() / (1 + let_go_of_ended());
}

Status arm(ThreadRecord* record, unsigned clock, Booking booking) noexcept REQUIRES(g_threads) {
  if (g_armed >= g_most) sweep();
  if (g_armed >= g_most) return {EAGAIN, "no more timers without taking the program's signals"};
  ThreadTimer& timer = record->timers[clock];
  timer = ThreadTimer{};
  timer.id = kNoTimer;
  timer.booking = booking;
  const uint64_t period_ns = period_of(clock);
  int id = kNoTimer;
  if (auto created = create_timer(record->thread, &timer, &id); !created) return created;
  if (int error = set_timer(id, first_expiry_ns(booking, period_ns), period_ns); error != 0) {
    delete_timer(id);
    return {error, "timer_settime:"};
  }
  timer.id = id;
  timer.observed = true;
  ++g_armed;
  return {};
}

bool has_timer(const ThreadRecord& record) noexcept {
  for (const ThreadTimer& timer : record.timers)
    if (timer.id != kNoTimer) return true;
  return false;
}

ThreadRecord* find_thread(pid_t thread) noexcept REQUIRES(g_threads) {
  ThreadRecord* records = thread_records();
  for (unsigned i = 0; i < thread_record_count(); ++i)
    if (records[i].used && records[i].thread == thread) return &records[i];
  return nullptr;
}

/// The record of a thread that did not come by our pthread_create(3).
ThreadRecord* adopt(pid_t thread) noexcept REQUIRES(g_threads) {
  ThreadRecord* record = find_thread(thread);
  if (record != nullptr) return record;
  record = new_thread_record();
  if (record == nullptr) return nullptr;
  record->thread = thread;
  record->began_cpu_ns = thread_cpu_ns(thread);
  if (is_on_small_stack() && thread == static_cast<pid_t>(syscall(SYS_gettid)))
    record->untimed = Untimed::kSmallStack;
  return record;
}

/// A thread that begins may have been adopted a moment ago, and an ended one's number may be its own.
void drop_adopted(pid_t thread) noexcept REQUIRES(g_threads) {
  ThreadRecord* records = thread_records();
  for (unsigned i = 0; i < thread_record_count(); ++i) {
    if (!records[i].used || records[i].hooked || records[i].thread != thread) continue;
    for (ThreadTimer& timer : records[i].timers) disarm(&timer);
    give_back(&records[i]);
  }
}

bool thread_blocks_ticks() noexcept {
  sigset_t mask;
  return next_sigmask(SIG_BLOCK, nullptr, &mask) == 0 && sigismember(&mask, TickSlot::signal_number()) == 1;
}

/// CPU time of a thread that has a record. One that was only met may have ended: what its timers
/// have booked then.
uint64_t known_ns(const ThreadRecord& record) noexcept {
  const uint64_t used_ns = thread_cpu_ns(record.thread);
  return used_ns > record.began_cpu_ns ? used_ns - record.began_cpu_ns : booked_ns(record);
}

/// What a clock's timer has not booked at the end of its thread. A thread that has its ticks blocked was not
/// in the places where others with the same routine were.
void book_end(ThreadRecord* record, unsigned clock, uint64_t cpu_ns) noexcept {
  const ThreadTimer& timer = record->timers[clock];
  const uint64_t booked_ns = timer.booked_ns + record->began_cpu_ns;
  const uint64_t missing_ns = cpu_ns > booked_ns ? cpu_ns - booked_ns : 0;
  if (missing_ns > 4 * kernel_tick_ns() + 2 * period_of(clock) && thread_blocks_ticks())
    note_untimed(has_no_stack_for_ticks() ? Untimed::kSmallStack : Untimed::kBlocked, missing_ns);
  else
    book_rest(*record, clock, cpu_ns);
}

}  // namespace

ThreadRecord* new_thread_record() noexcept {
  ThreadRecord* record = take_thread_record();
  if (record != nullptr) return record;
  sweep();
  return take_thread_record();
}

Status ThreadTimers::adopt_all() noexcept {
  MappedArray<pid_t> threads;
  if (auto listed = list_threads(&threads); !listed) return listed;
  Status last = {EAGAIN, "no memory for the threads' timers"};
  bool any = false;
  for (pid_t thread : threads) {
    ThreadRecord* record = adopt(thread);
    if (record == nullptr) break;
    any = any || record->untimed == Untimed::kSmallStack;
    if (record->untimed != Untimed::kNo) continue;
    if (record->timers[slot_.index()].id != kNoTimer) {
      any = true;
      continue;
    }
    const bool begins = plan_.first_weight != 0 && thread == getpid();
    auto armed = arm(record, slot_.index(), begins ? Booking::kFirstWeighs : Booking::kAsDelivered);
    any = any || bool(armed);
    if (!armed) last = armed;
  }
  return any ? Status() : last;
}

Status ThreadTimers::start(PublishedTables* tables, const Plan& plan) noexcept {
  if (running()) return {EBUSY, "the timers are running already"};
  {
    MutexLock locked(g_threads);
    TickSlot::reserve_signal();  // it keeps the thread's mask, which the next lock changes
  }
  const ThreadsLock locked;
  if (auto claimed = slot_.claim(tables, plan.period_ns, plan.first_weight); !claimed) return claimed;
  plan_ = plan;
  g_most = most_timers();
  hook_threads(+1);
  auto adopted = adopt_all();
  if (!adopted) end();
  return adopted;
}

void ThreadTimers::adopt_threads() noexcept {
  if (!running()) return;
  plan_.first_weight = 0;  // no process begins here
  const ErrnoKept kept;
  const ThreadsLock locked;
  (void)let_go_of_ended();
  (void)adopt_all();
}

/// REQUIRES: running().
void ThreadTimers::end() noexcept {
  hook_threads(-1);
  ThreadRecord* records = thread_records();
  for (unsigned i = 0; i < thread_record_count(); ++i) {
    ThreadRecord& record = records[i];
    if (!record.used) continue;
    disarm(&record.timers[slot_.index()]);
    if (!record.hooked && !has_timer(record)) give_back(&record);
  }
  slot_.release();
}

void ThreadTimers::stop() noexcept {
  if (!running()) return;
  const ThreadsLock locked;
  end();
}

void ThreadTimers::forget_parent() noexcept {
  if (!forget_threads()) return;
  const ThreadsLock locked;
  forget_owed_ticks();
  g_armed = g_ended = g_until_sweep = 0;
  g_ended_ns = 0;
}

void ThreadTimers::forget() noexcept {
  forget_parent();
  if (!running()) return;
  hook_threads(-1);
  slot_.release();
}

void begin_thread(ThreadRecord* record) noexcept {
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  MutexLock locked(g_threads);
  drop_adopted(thread);
  record->thread = thread;
  record->hooked = true;
  if (record->untimed != Untimed::kNo) return;
  for (unsigned clock = 0; clock < kMostClocks; ++clock)
    if (period_of(clock) != 0 && !arm(record, clock, Booking::kByPot)) record->untimed = Untimed::kLimit;
}

void end_thread(ThreadRecord* record) noexcept {
  const ThreadsLock locked;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  if (!record->used || record->thread != thread) return;     // of the parent of a fork
  for (ThreadTimer& timer : record->timers) disarm(&timer);  // its last signal, too, is past then
  const uint64_t cpu_ns = thread_cpu_ns(thread);
  g_ended_ns += cpu_ns;
  ++g_ended;
  for (unsigned clock = 0; clock < kMostClocks; ++clock)
    if (record->timers[clock].observed && period_of(clock) != 0) book_end(record, clock, cpu_ns);
  if (record->untimed != Untimed::kNo) note_untimed(record->untimed, cpu_ns);
  give_back(record);
}

void end_process() noexcept {
  const ThreadsLock locked;
  const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
  const uint64_t cpu_ns = thread_cpu_ns(thread);
  ThreadRecord* record = find_thread(thread);
  for (unsigned clock = 0; record != nullptr && clock < kMostClocks; ++clock)
    if (record->timers[clock].observed && period_of(clock) != 0) book_end(record, clock, cpu_ns);
}

uint64_t unseen_start_ns(uint64_t process_ns) noexcept {
  const ThreadsLock locked;
  uint64_t known = g_ended_ns + kOurStartNs + kStartAndEndNs * g_ended;
  const ThreadRecord* records = thread_records();
  for (unsigned i = 0; i < thread_record_count(); ++i)
    if (records[i].used && records[i].thread != 0) known += known_ns(records[i]);
  return process_ns > known ? process_ns - known : 0;
}

void note_untimed(Untimed why, uint64_t cpu_ns) noexcept {
  __atomic_fetch_add(&g_untimed_us[static_cast<unsigned>(why)], static_cast<unsigned long>(cpu_ns / 1000),
                     __ATOMIC_RELAXED);
}

uint64_t take_untimed_ns(Untimed why) noexcept {
  return uint64_t{__atomic_exchange_n(&g_untimed_us[static_cast<unsigned>(why)], 0, __ATOMIC_RELAXED)} * 1000;
}

}  // namespace pctally
