#include "engine/process_timer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tick/context.h"

namespace pctally {
namespace {

// Raw system calls: the same library then runs with any C library, and timer ids are plain ints.
struct KernelSpec {
  timespec interval;
  timespec first;
};

PublishedTables* g_tables = nullptr;
int g_signal = 0;
int g_timer = 0;
bool g_armed = false;

timespec to_timespec(uint64_t ns) noexcept {
  return {static_cast<time_t>(ns / 1000000000u), static_cast<long>(ns % 1000000000u)};
}

/// The timer's value field says that a signal is ours; anybody else's is let go by.
void* cookie() noexcept { return &g_tables; }

void on_tick(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TIMER || info->si_value.sival_ptr != cookie()) return;
  tick_published(g_tables, interrupted_pc(context), 1 + static_cast<uint64_t>(info->si_overrun));
}

bool is_free(int signal) noexcept {
  struct sigaction action;
  if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return false;
  sigset_t blocked;
  return sigprocmask(SIG_BLOCK, nullptr, &blocked) == 0 && sigismember(&blocked, signal) == 0;
}

/// From the top: applications take theirs from SIGRTMIN upwards.
int free_signal() noexcept {
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN; --signal)
    if (is_free(signal)) return signal;
  return 0;
}

Result<void> install_handler() noexcept {
  if (g_signal != 0) return {};
  int signal = free_signal();
  if (signal == 0) return fail(EAGAIN, "no real-time signal is free for the timer");
  struct sigaction action {};
  action.sa_sigaction = on_tick;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigfillset(&action.sa_mask);
  if (sigaction(signal, &action, nullptr) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  g_signal = signal;
  return {};
}

Result<void> arm(uint64_t period_ns, uint64_t first_ns) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = g_signal;
  event.sigev_value.sival_ptr = cookie();
  if (syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &g_timer) != 0)
    return fail(errno, "timer_create: %s", strerror(errno));
  g_armed = true;
  KernelSpec spec{to_timespec(period_ns), to_timespec(first_ns == 0 ? 1 : first_ns)};
  if (syscall(SYS_timer_settime, g_timer, 0, &spec, nullptr) == 0) return {};
  int error = errno;
  ProcessTimer::stop();
  return fail(error, "timer_settime: %s", strerror(error));
}

}  // namespace

Result<void> ProcessTimer::start(PublishedTables* tables, uint64_t period_ns, uint64_t first_ns) noexcept {
  if (g_armed) return fail(EBUSY, "the timer is running already");
  g_tables = tables;
  if (auto installed = install_handler(); !installed) return installed;
  return arm(period_ns, first_ns);
}

void ProcessTimer::stop() noexcept {
  if (g_armed) syscall(SYS_timer_delete, g_timer);
  g_armed = false;
}

Result<void> ProcessTimer::restart(uint64_t period_ns, uint64_t first_ns) noexcept {
  g_armed = false;
  return arm(period_ns, first_ns);
}

int ProcessTimer::signal_number() noexcept { return g_signal; }

uint64_t kernel_tick_ns() noexcept {
  timespec coarse{};
  // The coarse clock moves once a kernel tick and says how far.
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &coarse) != 0) return 0;
  return static_cast<uint64_t>(coarse.tv_sec) * 1000000000u + static_cast<uint64_t>(coarse.tv_nsec);
}

}  // namespace pctally
