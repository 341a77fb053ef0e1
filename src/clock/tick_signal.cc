#include "clock/tick_signal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock/last_delivery.h"
#include "fault/fault_guard.h"
#include "tick/context.h"

namespace pctally {

__thread LastDelivery t_last_delivery;

namespace {

// Raw system calls: the same library then runs with any C library, and timer ids are plain ints. The kernel's
// own time: 32-bit words where `long` is, whatever the C library's time_t has grown to; machines too new for
// that have only the call with 64.
#ifdef SYS_timer_settime
using KernelWord = long;
constexpr long kSetTime = SYS_timer_settime;
#else
using KernelWord = int64_t;
constexpr long kSetTime = SYS_timer_settime64;
#endif
struct KernelTime {
  KernelWord seconds;
  KernelWord nanoseconds;
};
struct KernelSpec {
  KernelTime interval;
  KernelTime first;
};

/// A timer's signals carry the address of its slot.
struct Slot {
  PublishedTables* tables;  ///< where the ticks go; null while it is free
  uint32_t first_weight;    ///< 0 after the first delivery
};
Slot g_slots[TickSlot::kMost] = {};
int g_signal = 0;

KernelTime to_kernel_time(uint64_t ns) noexcept {
  return {static_cast<KernelWord>(ns / 1000000000u), static_cast<KernelWord>(ns % 1000000000u)};
}

bool from_timer(int code) noexcept {
#ifdef __mips__
  if (code == SI_ASYNCIO)
    return true;  // what qemu-user makes of it: mips alone has another number for timers
#endif
  return code == SI_TIMER;
}

uint64_t weight_of(const siginfo_t* info, Slot* slot) noexcept {
  uint64_t weight = 1 + static_cast<uint64_t>(info->si_overrun);
  if (__atomic_load_n(&slot->first_weight, __ATOMIC_RELAXED) == 0) return weight;
  uint64_t first = __atomic_exchange_n(&slot->first_weight, 0, __ATOMIC_RELAXED);
  return first > weight ? first : weight;
}

/// Signals that carry anything but the address of a slot are somebody else's and let go by.
void on_tick(int, siginfo_t* info, void* context) {
  if (!from_timer(info->si_code)) return;
  auto slot = static_cast<Slot*>(info->si_value.sival_ptr);
  if (slot < g_slots || slot >= g_slots + TickSlot::kMost) return;
  PublishedTables* tables = __atomic_load_n(&slot->tables, __ATOMIC_ACQUIRE);
  if (tables == nullptr) return;
  if (tables->may_fault && blocks_faults(context)) admit_faults();
  uint64_t pc = interrupted_pc(context);
  tick_published(tables, pc, weight_of(info, slot));
  note_delivery(context, pc);
}

/// What the program blocked when it was asked for a signal first: it may wait for these.
sigset_t g_blocked;

bool is_free(int signal) noexcept {
  struct sigaction action;
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return false;
  return sigismember(&g_blocked, signal) == 0;
}

/// From the top: applications take theirs from SIGRTMIN upwards.
int free_signal(int below) noexcept {
  for (int signal = below - 1; signal > SIGRTMIN; --signal)
    if (is_free(signal)) return signal;
  return 0;
}

Result<void> install_handler(int below) noexcept {
  auto signal = take_free_signal(on_tick, below);
  if (!signal) return std::unexpected(signal.error());
  g_signal = *signal;
  return {};
}

Result<void> take_signal() noexcept {
  return g_signal != 0 && !TickSlot::stolen() ? Result<void>{} : install_handler(SIGRTMAX);
}

/// The process's first timer may go down to a lower signal: qemu-user has no use for the uppermost ones, and
/// says so only here.
bool go_lower() noexcept {
  int below = g_signal;
  signal(below, SIG_DFL);
  g_signal = 0;
  return install_handler(below).has_value();
}

}  // namespace

Result<int> take_free_signal(void (*handler)(int, siginfo_t*, void*), int below) noexcept {
  if (g_signal == 0) pthread_sigmask(SIG_BLOCK, nullptr, &g_blocked);
  int signal = free_signal(below);
  if (signal == 0) return fail(EAGAIN, "no real-time signal is free for the timer");
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);  // the fault guard's: blocked, a fault would be the end of the process
  sigdelset(&action.sa_mask, SIGBUS);
  if (sigaction(signal, &action, nullptr) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  return signal;
}

Result<int> create_cpu_timer(int clock, pid_t thread, int signal, void* value) noexcept {
  sigevent event{};
  event.sigev_notify = thread == 0 ? SIGEV_SIGNAL : SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = thread;
  event.sigev_value.sival_ptr = value;
  int timer = 0;
  if (syscall(SYS_timer_create, clock, &event, &timer) != 0)
    return fail(errno, "timer_create: %s", strerror(errno));
  return timer;
}

/// By compare-and-swap: the callers of two slots need not share a lock.
Result<void> TickSlot::claim(PublishedTables* tables, uint32_t first_weight) noexcept {
  if (auto installed = take_signal(); !installed) return installed;
  for (unsigned slot = 0; slot < kMost; ++slot) {
    PublishedTables* free = nullptr;
    if (!__atomic_compare_exchange_n(&g_slots[slot].tables, &free, tables, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&g_slots[slot].first_weight, first_weight, __ATOMIC_RELAXED);
    index_ = slot;
    return {};
  }
  return fail(EAGAIN, "more than %u timers in one process", kMost);
}

void TickSlot::release() noexcept {
  if (claimed()) __atomic_store_n(&g_slots[index_].tables, nullptr, __ATOMIC_RELEASE);
  index_ = kMost;
}

Result<int> TickSlot::create_timer(int clock, pid_t thread) const noexcept {
  static bool proven = false;
  for (int before = errno;;) {
    auto timer = create_cpu_timer(clock, thread, g_signal, &g_slots[index_]);
    if (!timer && timer.error().code == EINVAL && !proven && go_lower()) continue;
    if (!timer) return timer;
    proven = true;
    errno = before;
    return timer;
  }
}

void TickSlot::reserve_signal() noexcept { (void)take_signal(); }

int TickSlot::signal_number() noexcept { return g_signal; }

bool TickSlot::stolen() noexcept {
  struct sigaction action;
  return g_signal != 0 && sigaction(g_signal, nullptr, &action) == 0 && action.sa_sigaction != on_tick;
}

int set_timer(int timer, uint64_t first_ns, uint64_t period_ns, bool absolute) noexcept {
  KernelSpec spec{to_kernel_time(period_ns), to_kernel_time(first_ns == 0 ? 1 : first_ns)};
  return syscall(kSetTime, timer, absolute ? TIMER_ABSTIME : 0, &spec, nullptr) == 0 ? 0 : errno;
}

void delete_timer(int timer) noexcept { syscall(SYS_timer_delete, timer); }

}  // namespace pctally
