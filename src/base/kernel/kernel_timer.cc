#include "base/kernel/kernel_timer.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/time_ns.h"

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

KernelTime to_kernel_time(uint64_t ns) noexcept {
  return {static_cast<KernelWord>(ns / kNsPerSecond), static_cast<KernelWord>(ns % kNsPerSecond)};
}

/// The kernel's number for the CPU clock of a thread.
int clock_of(pid_t thread) noexcept { return static_cast<int>((~static_cast<unsigned>(thread) << 3) | 6u); }

}  // namespace

Status create_thread_timer(pid_t thread, int signal, void* value, int* timer) noexcept {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event._sigev_un._tid = thread;
  event.sigev_value.sival_ptr = value;
  if (syscall(SYS_timer_create, clock_of(thread), &event, timer) != 0) return {errno, "timer_create:"};
  return {};
}

int set_timer(int timer, uint64_t first_ns, uint64_t period_ns) noexcept {
  KernelSpec spec{to_kernel_time(period_ns), to_kernel_time(first_ns == 0 ? 1 : first_ns)};
  return syscall(kSetTime, timer, 0, &spec, nullptr) == 0 ? 0 : errno;
}

void delete_timer(int timer) noexcept { syscall(SYS_timer_delete, timer); }

uint64_t thread_cpu_ns(pid_t thread) noexcept {
  timespec used{};
  return clock_gettime(clock_of(thread), &used) == 0 ? to_ns(used) : 0;
}

}  // namespace pctally
