#include "engine/process_timer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "engine/fault_guard.h"
#include "tick/context.h"

namespace pctally {
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

/// A timer's signals carry the address of its slot; the slot says where the ticks go, null while it is free.
PublishedTables* g_slots[ProcessTimer::kMost] = {};
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

/// Signals that carry anything but the address of a slot are somebody else's and let go by.
void on_tick(int, siginfo_t* info, void* context) {
  if (!from_timer(info->si_code)) return;
  auto slot = static_cast<PublishedTables**>(info->si_value.sival_ptr);
  if (slot < g_slots || slot >= g_slots + ProcessTimer::kMost) return;
  PublishedTables* tables = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (tables == nullptr) return;
  if (tables->may_fault && blocks_faults(context)) admit_faults();
  tick_published(tables, interrupted_pc(context), 1 + static_cast<uint64_t>(info->si_overrun));
}

bool is_free(int signal) noexcept {
  struct sigaction action;
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return false;
  sigset_t blocked;
  return sigprocmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 0;
}

/// From the top: applications take theirs from SIGRTMIN upwards.
int free_signal(int below) noexcept {
  for (int signal = below - 1; signal > SIGRTMIN; --signal)
    if (is_free(signal)) return signal;
  return 0;
}

Result<void> install_handler(int below) noexcept {
  int signal = free_signal(below);
  if (signal == 0) return fail(EAGAIN, "no real-time signal is free for the timer");
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  sigdelset(&action.sa_mask, SIGSEGV);  // the fault guard's: blocked, a fault would be the end of the process
  sigdelset(&action.sa_mask, SIGBUS);
  if (sigaction(signal, &action, nullptr) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  g_signal = signal;
  return {};
}

bool create_timer(PublishedTables** slot, int* timer) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = g_signal;
  event.sigev_value.sival_ptr = slot;
  return syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, timer) == 0;
}

/// The process's first timer may go down to a lower signal: qemu-user has no use for the uppermost ones, and
/// says so only here.
Result<void> create_first_timer(PublishedTables** slot, int* timer) noexcept {
  int below = SIGRTMAX, before = errno;
  for (;;) {
    if (auto installed = install_handler(below); !installed) return installed;
    if (create_timer(slot, timer)) return errno = before, Result<void>{};
    int error = errno;
    signal(g_signal, SIG_DFL);
    below = g_signal;
    g_signal = 0;
    if (error != EINVAL) return fail(error, "timer_create: %s", strerror(error));
  }
}

/// By compare-and-swap: the callers of two timers need not share a lock.
unsigned claim_slot(PublishedTables* tables) noexcept {
  for (unsigned slot = 0; slot < ProcessTimer::kMost; ++slot) {
    PublishedTables* free = nullptr;
    if (__atomic_compare_exchange_n(&g_slots[slot], &free, tables, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
      return slot;
  }
  return ProcessTimer::kMost;
}

}  // namespace

Result<void> ProcessTimer::arm(uint64_t period_ns, uint64_t first_ns) noexcept {
  PublishedTables** slot = &g_slots[slot_];
  if (g_signal == 0) {
    if (auto created = create_first_timer(slot, &timer_); !created) return created;
  } else if (!create_timer(slot, &timer_)) {
    return fail(errno, "timer_create: %s", strerror(errno));
  }
  KernelSpec spec{to_kernel_time(period_ns), to_kernel_time(first_ns == 0 ? 1 : first_ns)};
  if (syscall(kSetTime, timer_, 0, &spec, nullptr) != 0) {
    int error = errno;
    syscall(SYS_timer_delete, timer_);
    return fail(error, "timer_settime: %s", strerror(error));
  }
  armed_ = true;
  return {};
}

Result<void> ProcessTimer::start(PublishedTables* tables, uint64_t period_ns, uint64_t first_ns) noexcept {
  if (armed_) return fail(EBUSY, "the timer is running already");
  slot_ = claim_slot(tables);
  if (slot_ == kMost) return fail(EAGAIN, "more than %u timers in one process", kMost);
  auto armed = arm(period_ns, first_ns);
  if (!armed) __atomic_store_n(&g_slots[slot_], nullptr, __ATOMIC_RELEASE);
  return armed;
}

void ProcessTimer::reserve_signal() noexcept { (void)install_handler(); }

void ProcessTimer::stop() noexcept {
  if (!armed_) return;
  syscall(SYS_timer_delete, timer_);
  __atomic_store_n(&g_slots[slot_], nullptr, __ATOMIC_RELEASE);
  armed_ = false;
}

void ProcessTimer::forget() noexcept {
  if (armed_) __atomic_store_n(&g_slots[slot_], nullptr, __ATOMIC_RELEASE);
  armed_ = false;
}

int ProcessTimer::signal_number() noexcept { return g_signal; }

uint64_t kernel_tick_ns() noexcept {
  timespec coarse{};
  // The coarse clock moves once a kernel tick and says how far.
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) != 0) return 0;
  return static_cast<uint64_t>(coarse.tv_sec) * 1000000000u + static_cast<uint64_t>(coarse.tv_nsec);
}

}  // namespace pctally
