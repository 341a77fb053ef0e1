#include "dialect/session.h"

#include <errno.h>
#include <string.h>

#include <optional>

#include "base/fork_hook.h"
#include "clock/clock_watch.h"
#include "clock/hand_tick.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"
#include "dialect/verbose.h"
#include "fault/fault_guard.h"
#include "histfile/publish.h"

namespace pctally {

constinit Mutex g_sessions_mutex;

void rearm_sessions(Descriptors descriptors) noexcept REQUIRES(g_sessions_mutex);
void watch_clocks() noexcept REQUIRES(g_sessions_mutex);

// All sessions that were ever on. Ticks read the list without the lock, so no entry is removed.
namespace {

constexpr unsigned kMostSessions = kMostClocks;
Session* g_sessions[kMostSessions] = {};

bool enlist(Session* session) noexcept REQUIRES(g_sessions_mutex) {
  for (Session*& entry : g_sessions) {
    if (entry == session) return true;
    if (entry != nullptr) continue;
    __atomic_store_n(&entry, session, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

int g_last_clock = -1;  ///< ClockKind

/// The timer fires at the kernel's tick. A shorter period gets the trap.
ClockKind clock_for(uint64_t period_ns) noexcept {
  if (period_ns == 0) return ClockKind::kNone;
  return chosen_clock(period_ns < tick_grid_ns(ClockKind::kTimer) ? ClockKind::kTrap : ClockKind::kTimer);
}

void enter_child(Descriptors descriptors) noexcept REQUIRES(g_sessions_mutex) {
  note_own_process();
  ThreadTimers::forget_parent();
  claim_memory();
  ClockWatch::forget();
  rearm_sessions(descriptors);
  if (!has_seccomp_filter()) watch_clocks();
}

void in_child() {
  CallLock lock(g_sessions_mutex);
  enter_child(Descriptors::kCopied);
}

__attribute__((constructor)) void at_load() { claim_memory(); }

// Taken inside a monitor's lock.
const ForkHook g_fork_hook(2, &g_sessions_mutex, in_child);

}  // namespace

// Not analysed: the lock is a member's.
SessionsLock::SessionsLock() noexcept NO_THREAD_SAFETY_ANALYSIS : lock_(g_sessions_mutex) {
  if (memory_here() == Memory::kCopied) enter_child(Descriptors::kPerhapsShared);
}
SessionsLock::~SessionsLock() NO_THREAD_SAFETY_ANALYSIS = default;

bool answers_only() noexcept { return memory_here() == Memory::kLent; }

bool Session::fill(Side& side, const SessionPlan& plan) noexcept {
  size_t flags = plan.regions.size() + 1;
  if (!side.regions->assign(plan.regions) || !side.faulted->reserve(flags)) return false;
  side.faulted->clear();
  while (side.faulted->size() < flags) (void)side.faulted->push_back(0);
  side.stopped = 0;
  if (plan.overflow != nullptr) side.overflow = *plan.overflow;
  return true;
}

RegionTable Session::table_of(Side& side, bool has_overflow) noexcept {
  RegionTable table{};
  table.regions = side.regions->data();
  table.count = static_cast<uint32_t>(side.regions->size());
  table.overflow = has_overflow ? &side.overflow : nullptr;
  table.ledger = &ledger_;
  table.stopped = &side.stopped;
  table.faulted = side.faulted->data();
  return table;
}

Status Session::keep_time(uint64_t period_ns) noexcept {
  ClockKind kind = clock_for(period_ns);
  const bool same = clock_.running() && kind != ClockKind::kNone && period_ns == period_ns_;
  if (same && !clock_.replaced() && clock_.intact()) return {};
  clock_.stop();
  const Status started = kind == ClockKind::kNone ? Status() : clock_.start(&tables_, {kind, period_ns});
  watch_clocks();
  return started;
}

/// A clock whose ticks came all the same is left alone: the program's handler of SIGTRAP may call ours.
void Session::mend_clock() noexcept {
  const uint64_t ticks = load_relaxed(&ledger_.samples);
  const bool silent = ticks == ticks_at_last_check_;
  ticks_at_last_check_ = ticks;
  if (!silent || clock_.kind() != ClockKind::kTrap || clock_.intact()) return;
  (void)clock_.replace();
  __atomic_store_n(&g_last_clock, static_cast<int>(clock_.kind()), __ATOMIC_RELAXED);
}

/// The watch's check, in a signal handler. A call that is under way is not waited for.
void mend_clocks() noexcept {
  const NotCancelled not_cancelled;
  if (!g_sessions_mutex.try_lock()) return;
  for (Session* session : g_sessions)
    if (session != nullptr) session->mend_clock();
  g_sessions_mutex.unlock();
}

/// While a clock is the trap. Without the watch it is mended by the next call.
void watch_clocks() noexcept {
  bool any = false;
  for (const Session* session : g_sessions)
    if (session != nullptr && session->clock_.kind() == ClockKind::kTrap) any = true;
  if (any)
    (void)ClockWatch::start(mend_clocks);
  else
    ClockWatch::stop();
}

Status Session::start(const SessionPlan& plan) noexcept {
  const int errno_before = errno;  // calls without a result report errors by errno alone
  unsigned spare = 1 - side_in_use_;
  Side& side = sides_[spare];
  if (!fill(side, plan)) return {ENOMEM, "no memory for the regions"};
  if (!seal_regions(side.regions->data(), static_cast<uint32_t>(side.regions->size())))
    return {EINVAL, "the regions are not in ascending order"};
  if (answers_only()) return {};
  if (!enlist(this)) return {EAGAIN, "too many dialects in one process"};
  if (auto guarded = install_fault_guard(); !guarded) return guarded;
  if (!tables_.may_fault) tables_.may_fault = true;  // ticks read it
  if (auto timed = keep_time(plan.period_ns); !timed) return stop(), timed;
  if (!on()) ledger_ = Ledger{};
  period_ns_ = plan.period_ns;
  need_fault_guard(GuardUser::kProfile, true);
  publish(&tables_, table_of(side, plan.overflow != nullptr));
  side_in_use_ = spare;
  __atomic_store_n(&g_last_clock, static_cast<int>(clock_.kind()), __ATOMIC_RELAXED);
  if (plan.overflow == nullptr) say_if_nothing_counts(system_, plan.regions);
  errno = errno_before;
  return {};
}

void Session::stop() noexcept {
  if (answers_only()) return;
  clock_.stop();
  withdraw(&tables_);
  if (has_seccomp_filter()) return;
  watch_clocks();
  for (const Session* session : g_sessions)
    if (session != nullptr && session->on()) return;
  need_fault_guard(GuardUser::kProfile, false);
}

bool Session::on() const noexcept {
  if (__atomic_load_n(&tables_.current, __ATOMIC_ACQUIRE) == kNoTable) return false;
  return __atomic_load_n(&sides_[side_in_use_].stopped, __ATOMIC_ACQUIRE) == 0;
}

const Session* session_of(const char* system) noexcept {
  for (Session* const& entry : g_sessions) {
    const Session* session = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if (session == nullptr || strcmp(session->system(), system) == 0) return session;
  }
  return nullptr;
}

bool tick_sessions(uint64_t pc, uint64_t weight) noexcept {
  bool any = false;
  std::optional<HandTick> uninterrupted;
  for (Session* const& entry : g_sessions) {
    Session* session = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if (session == nullptr) break;
    if (__atomic_load_n(&session->tables_.current, __ATOMIC_ACQUIRE) == kNoTable) continue;
    if (!uninterrupted) uninterrupted.emplace();
    if (tick_published(&session->tables_, pc, weight)) any = true;
  }
  return any;
}

bool ends_behind_filter() noexcept { return has_seccomp_filter(); }

bool last_session_clock(ClockKind* kind) noexcept {
  int last = __atomic_load_n(&g_last_clock, __ATOMIC_RELAXED);
  if (last >= 0) *kind = static_cast<ClockKind>(last);
  return last >= 0;
}

/// In the child of a fork: clocks are not inherited, and ticks in flight in other threads do not exist.
/// Behind a seccomp filter there is no clock: it may kill whoever asks for one.
void rearm_sessions(Descriptors descriptors) noexcept {
  for (Session* session : g_sessions) {
    if (session == nullptr) break;
    forget_in_flight(&session->tables_);
    if (!session->clock_.running() || has_seccomp_filter()) continue;
    if (auto ticking = session->clock_.restart(descriptors); !ticking) session->stop();
  }
}

}  // namespace pctally
