#include "dialect/session.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/fault_guard.h"
#include "engine/period.h"
#include "histfile/publish.h"

namespace pctally {

void rearm_sessions() noexcept;

// One lock, and all sessions that were ever on: ticks read the list without the lock, so none is ever taken
// out.
namespace {

constexpr unsigned kMostSessions = ProcessTimer::kMost;
pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
Session* g_sessions[kMostSessions] = {};

bool enlist(Session* session) noexcept {
  for (Session*& entry : g_sessions) {
    if (entry == session) return true;
    if (entry != nullptr) continue;
    __atomic_store_n(&entry, session, __ATOMIC_RELEASE);
    return true;
  }
  return false;
}

/// PCTALLY_ENGINE=manual: no clock, only pctally_count(), for tests that need to know every tick.
bool clock_wanted() noexcept {
  const char* engine = getenv("PCTALLY_ENGINE");
  return engine == nullptr || strcmp(engine, "manual") != 0;
}

uint64_t random_phase(uint64_t period_ns) noexcept {
  Random random;
  return 1 + random.below(period_ns);
}

void in_child() {
  pthread_mutex_init(&g_lock, nullptr);
  rearm_sessions();
}

void watch_forks() noexcept {
  static bool watching = false;
  if (!watching)
    pthread_atfork([] { pthread_mutex_lock(&g_lock); }, [] { pthread_mutex_unlock(&g_lock); }, in_child);
  watching = true;
}

}  // namespace

SessionLock::SessionLock() noexcept { pthread_mutex_lock(&g_lock); }
SessionLock::~SessionLock() { pthread_mutex_unlock(&g_lock); }

bool Session::fill(Side& side, const SessionPlan& plan) noexcept {
  size_t flags = plan.regions.size() + 1;
  if (!side.regions.assign(plan.regions) || !side.faulted.reserve(flags)) return false;
  side.faulted.clear();
  while (side.faulted.size() < flags) (void)side.faulted.push_back(0);
  side.stopped = 0;
  if (plan.overflow != nullptr) side.overflow = *plan.overflow;
  return true;
}

RegionTable Session::table_of(Side& side, bool has_overflow) noexcept {
  RegionTable table{};
  table.regions = side.regions.data();
  table.count = static_cast<uint32_t>(side.regions.size());
  table.overflow = has_overflow ? &side.overflow : nullptr;
  table.ledger = &ledger_;
  table.stopped = &side.stopped;
  table.faulted = side.faulted.data();
  return table;
}

Result<void> Session::keep_time(uint64_t period_ns) noexcept {
  bool wanted = period_ns != 0 && clock_wanted();
  if (timer_.running() && wanted && period_ns == period_ns_) return {};
  timer_.stop();
  return wanted ? timer_.start(&tables_, period_ns, random_phase(period_ns)) : Result<void>{};
}

Result<void> Session::start(const SessionPlan& plan) noexcept {
  unsigned spare = 1 - side_in_use_;
  Side& side = sides_[spare];
  if (!fill(side, plan)) return fail(ENOMEM, "no memory for %zu regions", plan.regions.size());
  if (!seal_regions(side.regions.data(), static_cast<uint32_t>(side.regions.size())))
    return fail(EINVAL, "the regions are not in ascending order");
  if (!enlist(this)) return fail(EAGAIN, "more than %u dialects in one process", kMostSessions);
  if (auto guarded = install_fault_guard(); !guarded) return guarded;
  watch_forks();
  if (!tables_.may_fault) tables_.may_fault = true;  // ticks read it
  if (auto timed = keep_time(plan.period_ns); !timed) return stop(), timed;
  if (!on()) ledger_ = Ledger{};
  period_ns_ = plan.period_ns;
  publish(&tables_, table_of(side, plan.overflow != nullptr));
  side_in_use_ = spare;
  return {};
}

void Session::stop() noexcept {
  timer_.stop();
  withdraw(&tables_);
}

bool Session::on() const noexcept {
  if (__atomic_load_n(&tables_.current, __ATOMIC_ACQUIRE) == kNoTable) return false;
  const Side& side = sides_[side_in_use_];
  if (__atomic_load_n(&side.stopped, __ATOMIC_ACQUIRE) != 0) return false;
  if (side.regions.size() != 1) return true;
  return tables_.slots[tables_.current].overflow != nullptr ||
         __atomic_load_n(&side.faulted[0], __ATOMIC_RELAXED) == 0;
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
  for (Session* const& entry : g_sessions) {
    Session* session = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
    if (session == nullptr) break;
    if (__atomic_load_n(&session->tables_.current, __ATOMIC_ACQUIRE) == kNoTable) continue;
    if (!any) admit_faults();
    any = true;
    tick_published(&session->tables_, pc, weight);
  }
  return any;
}

/// In the child of a fork: no timer is inherited, and the ticks that were in flight in other threads are not
/// here.
void rearm_sessions() noexcept {
  for (Session* session : g_sessions) {
    if (session == nullptr) break;
    forget_in_flight(&session->tables_);
    if (!session->timer_.running()) continue;
    auto armed = session->timer_.restart(session->period_ns_, random_phase(session->period_ns_));
    if (!armed) session->stop();
  }
}

}  // namespace pctally
