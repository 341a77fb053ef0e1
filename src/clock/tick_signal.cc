#include "clock/tick_signal.h"

#include <errno.h>
#include <string.h>

#include "base/call_lock.h"
#include "base/next_call.h"
#include "base/time_ns.h"
#include "clock/interrupted_call.h"
#include "clock/last_delivery.h"
#include "clock/thread_hook.h"
#include "clock/thread_pots.h"
#include "clock/thread_timers.h"
#include "clock/tick_path.h"
#include "fault/displaced_action.h"
#include "fault/fault_guard.h"
#include "fault/front_handler.h"
#include "fault/sent_fault.h"
#include "tick/context.h"

namespace pctally {

__thread LastDelivery t_last_delivery;

namespace {

/// What a pot keeps for first ticks. Short threads leave one kernel tick between two of these on the average,
/// and more than four with a probability of e^-4, 2 %.
constexpr uint64_t kKernelTicksKept = 4;

struct Slot {
  PublishedTables* tables;  ///< where the ticks go; null while it is free
  uint64_t period_ns;
  uint32_t first_weight;
  int64_t kept_ns;  ///< by a pot
  ThreadPots pots;
};
Slot g_slots[kMostClocks] = {};
int g_signal = 0;
bool g_proven GUARDED_BY(g_threads) = false;  ///< a timer on it exists or did
void* g_value = nullptr;
void (*g_work)() noexcept = nullptr;

DisplacedAction g_program_action = {};

bool from_timer(int code) noexcept { return code == SI_TIMER; }

/// The first delivery's whole weight goes into the pot, for a thread that got one gets more the
/// later it came.
uint64_t weigh_by_pot(ThreadTimer* timer, Slot* slot, uint32_t pot, uint64_t expiries) noexcept {
  const uint64_t time_ns = expiries * slot->period_ns;
  if (!timer->ticked) {
    // The first expiry comes at the thread's beginning: by now it has run half a period less on the average.
    timer->booked_ns = time_ns - slot->period_ns / 2;
    timer->left_ns = timer->booked_ns;
    timer->ticked = true;
    const int64_t owed = slot->pots.take(pot, slot->period_ns, 0, 0, 0);
    slot->pots.add(pot, static_cast<int64_t>(timer->booked_ns));
    return static_cast<uint64_t>(owed);
  }
  const auto delivered = static_cast<int64_t>(expiries), own_ns = static_cast<int64_t>(timer->left_ns);
  timer->booked_ns += time_ns;
  timer->left_ns = 0;
  const int64_t owed = slot->pots.take(pot, slot->period_ns, delivered, own_ns, slot->kept_ns);
  return static_cast<uint64_t>(delivered + owed);
}

uint64_t weigh(ThreadTimer* timer, Slot* slot, uint32_t pot, uint64_t expiries) noexcept {
  if (timer->booking == Booking::kByPot) return weigh_by_pot(timer, slot, pot, expiries);
  const bool first = !timer->ticked && timer->booking == Booking::kFirstWeighs;
  timer->ticked = true;
  timer->booked_ns += expiries * slot->period_ns;
  return first && expiries < slot->first_weight ? slot->first_weight : expiries;
}

/// By kill(2), tgkill(2) or sigqueue(3).
bool is_sent(int code) noexcept { return code == SI_USER || code == SI_TKILL || code == SI_QUEUE; }

/// The program's own signal of that number. Without a handler one that is sent ends the program, as without
/// us. It is let go by where the program may have it blocked and wait for it, which we do not let it; so is
/// one of a timer, which may be a late tick. Not inlined: it takes more of the stack than a tick does.
[[gnu::noinline]] void pass_to_program(int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction& current = g_program_action.action();
  const struct sigaction action = current;
  if (action.sa_handler == SIG_DFL && is_sent(info->si_code) && !has_blocked_ticks())
    return end_by_sending(signal);
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return;
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) current.sa_handler = SIG_DFL;
  call_with_its_mask(action, signal, info, context);
}

/// False if the signal is not of our timers.
bool take_tick(const siginfo_t* info, void* context) noexcept {
  unsigned clock = 0;
  ThreadRecord* record = nullptr;
  if (!from_timer(info->si_code)) return false;
  ThreadTimer* timer = thread_timer_at(info->si_value.sival_ptr, &clock, &record);
  if (timer == nullptr) return false;
  Slot* slot = &g_slots[clock];
  PublishedTables* tables = __atomic_load_n(&slot->tables, __ATOMIC_ACQUIRE);
  if (tables == nullptr) return true;
  const uint64_t weight = weigh(timer, slot, record->pot, 1 + static_cast<uint64_t>(info->si_overrun));
  if (keeps_ticks_blocked() || takes_waiting_tick()) {
    const bool for_stack = has_no_stack_for_ticks() || !keeps_ticks_blocked();
    note_untimed(for_stack ? Untimed::kSmallStack : Untimed::kBlocked, weight * slot->period_ns);
    return true;
  }
  if (waits_with_a_mask() && follows_interrupted_call(context)) {  // a handler has run meanwhile
    note_untimed(Untimed::kBlocked, weight * slot->period_ns);
    return true;
  }
  const void* below = context_below_new_frames(context);
  if (weight != 0 && (!tables->may_fault || open_for_faults(context))) tick_at(tables, below, weight);
  note_delivery(context, interrupted_pc(context));
  return true;
}

bool is_for_work(const siginfo_t* info) noexcept {
  const void* value = info->si_value.sival_ptr;
  return from_timer(info->si_code) && value != nullptr &&
         value == __atomic_load_n(&g_value, __ATOMIC_ACQUIRE);
}

void on_tick(int signal, siginfo_t* info, void* context) {
  begin_own_handler();
  leave_interrupted_call(context);
  if (is_for_work(info)) {
    end_own_handler();  // before: an alternate stack may have no room for a frame of ours below the work
    return g_work();
  }
  const bool taken = take_tick(info, context);
  end_own_handler();
  if (!taken) pass_to_program(signal, info, context);
}

/// What the program blocked when it was asked for a signal first: it may wait for these.
sigset_t g_blocked GUARDED_BY(g_threads);
bool g_knows_blocked GUARDED_BY(g_threads) = false;

bool has_no_handler(int signal) noexcept {
  struct sigaction action;
  return kernel_sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_DFL;
}

int free_signal(int below, int blocked) noexcept REQUIRES(g_threads) {
  for (int signal = below - 1; signal > SIGRTMIN; --signal)
    if (sigismember(&g_blocked, signal) == blocked && has_no_handler(signal)) return signal;
  return 0;
}

/// One that the program has a handler for, or at last one that it ignores, which a program that it executes
/// shall find ignored. None that it blocks: it may wait for it.
int handled_signal(int below) noexcept REQUIRES(g_threads) {
  int ignored = 0;
  for (int signal = below - 1; signal > SIGRTMIN; --signal) {
    struct sigaction action;
    if (sigismember(&g_blocked, signal) == 1 || kernel_sigaction(signal, nullptr, &action) != 0 ||
        action.sa_sigaction == on_tick)
      continue;
    if (action.sa_handler != SIG_IGN) return signal;
    if (ignored == 0) ignored = signal;
  }
  return ignored;
}

/// From the top: applications take theirs from SIGRTMIN upwards. A program that blocks all was executed so.
/// Which of them it may wait for is not known: they are named from either end, hardly from the middle.
int free_signal(int below) noexcept REQUIRES(g_threads) {
  const int middle = (SIGRTMIN + SIGRTMAX) / 2, open = free_signal(below, 0);
  return open != 0 ? open : free_signal(below < middle ? below : middle, 1);
}

Status set_handler(int signal) noexcept {
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  block_all_but_guarded(&action.sa_mask);
  know_own_handler(on_tick);
  return kernel_sigaction(signal, &action, nullptr) == 0 ? Status() : Status{errno, "sigaction:"};
}

Status install_handler(int below) noexcept REQUIRES(g_threads) {
  if (!g_knows_blocked) {
    next_sigmask(SIG_BLOCK, nullptr, &g_blocked);
    SignalsWait::leave_out_waiting(&g_blocked);
  }
  g_knows_blocked = true;
  const int free = free_signal(below), signal = free != 0 ? free : handled_signal(below);
  if (signal == 0) return {EAGAIN, "no real-time signal is free for the timer"};
  struct sigaction behind {};
  kernel_sigaction(signal, nullptr, &behind);
  g_program_action.set(behind);  // before ours is there: the next signal may be the program's
  if (auto set = set_handler(signal); !set) return set;
  __atomic_store_n(&g_signal, signal, __ATOMIC_RELEASE);
  if (sigismember(&g_blocked, signal) == 1) next_sigmask(SIG_UNBLOCK, signal);
  return {};
}

/// Set again where it is: the fault guard may be in front only now.
Status take_signal() noexcept REQUIRES(g_threads) {
  return g_signal != 0 && !TickSlot::stolen() ? set_handler(g_signal) : install_handler(SIGRTMAX);
}

}  // namespace

Status TickSlot::claim(PublishedTables* tables, uint64_t period_ns, uint32_t first_weight) noexcept {
  if (auto installed = take_signal(); !installed) return installed;
  for (unsigned index = 0; index < kMostClocks; ++index) {
    Slot& slot = g_slots[index];
    if (__atomic_load_n(&slot.tables, __ATOMIC_ACQUIRE) != nullptr) continue;
    slot.period_ns = period_ns;
    slot.first_weight = first_weight;
    const uint64_t kernel_ns = kernel_tick_ns();
    slot.kept_ns = static_cast<int64_t>(kKernelTicksKept * (period_ns > kernel_ns ? period_ns : kernel_ns));
    slot.pots.clear();
    __atomic_store_n(&slot.tables, tables, __ATOMIC_RELEASE);
    index_ = index;
    return {};
  }
  return {EAGAIN, "too many profiles in one process"};
}

void TickSlot::release() noexcept {
  if (claimed()) __atomic_store_n(&g_slots[index_].tables, nullptr, __ATOMIC_RELEASE);
  index_ = kMostClocks;
}

void TickSlot::reserve_signal() noexcept { (void)take_signal(); }

int TickSlot::signal_number() noexcept { return __atomic_load_n(&g_signal, __ATOMIC_ACQUIRE); }

bool TickSlot::stolen() noexcept {
  struct sigaction action;
  return g_signal != 0 && kernel_sigaction(g_signal, nullptr, &action) == 0 && action.sa_sigaction != on_tick;
}

bool TickSlot::go_lower() noexcept {
  if (g_proven) return false;
  const int below = g_signal;
  kernel_sigaction(below, &g_program_action.action(), nullptr);
  __atomic_store_n(&g_signal, 0, __ATOMIC_RELEASE);
  return bool(install_handler(below));
}

void TickSlot::prove_signal() noexcept { g_proven = true; }

void book_rest(const ThreadRecord& record, unsigned clock, uint64_t cpu_ns) noexcept {
  const ThreadTimer& timer = record.timers[clock];
  if (timer.booking != Booking::kByPot) return;
  Slot& slot = g_slots[clock];
  PublishedTables* tables = __atomic_load_n(&slot.tables, __ATOMIC_ACQUIRE);
  const uint64_t owed_ns = tables == nullptr ? 0 : owed_ticks(tables) * slot.period_ns;
  slot.pots.add(record.pot, static_cast<int64_t>(cpu_ns + owed_ns) - static_cast<int64_t>(timer.booked_ns));
}

uint64_t period_of(unsigned clock) noexcept {
  const Slot& slot = g_slots[clock];
  return __atomic_load_n(&slot.tables, __ATOMIC_ACQUIRE) == nullptr ? 0 : slot.period_ns;
}

bool exchange_program_action(int signal, const struct sigaction* action, struct sigaction* before) noexcept {
  if (signal != TickSlot::signal_number() || signal == 0) return false;
  if (before != nullptr) *before = g_program_action.action();
  if (action != nullptr) g_program_action.set(*action);
  return true;
}

void on_signal_with(void* value, void (*work)() noexcept) noexcept {
  g_work = work;
  __atomic_store_n(&g_value, value, __ATOMIC_RELEASE);
}

}  // namespace pctally
