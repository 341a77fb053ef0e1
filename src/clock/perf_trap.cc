#include "clock/perf_trap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/kernel/debugger.h"
#include "base/kernel/perf_event.h"
#include "base/kernel/period.h"
#include "base/unique_fd.h"
#include "clock/interrupted_call.h"
#include "clock/last_delivery.h"
#include "clock/thread_list.h"
#include "clock/tick_path.h"
#include "fault/fault_guard.h"
#include "fault/front_handler.h"
#include "fault/sent_fault.h"
#include "tick/context.h"

namespace pctally {
namespace {

constexpr int kTrapPerf = 6;           // TRAP_PERF, younger than the C library's header
constexpr uint32_t kAsynchronous = 1;  // TRAP_PERF_FLAG_ASYNC: the thread had it blocked when it came
constexpr uint64_t kAlways = uint64_t{1} << 32;
constexpr unsigned kRounds = 16;  ///< how often a list of threads that keeps changing is read again

/// An event's signals carry the address of its slot.
struct Slot {
  PublishedTables* tables;  ///< null while it is free
  uint64_t keep;            ///< of 2^32 ticks
  unsigned long draws;  ///< state of the draws, one step per tick; of a width every machine steps atomically
};
Slot g_slots[PerfTrap::kMost] = {};

/// What the kernel puts behind si_addr.
struct PerfInfo {
  unsigned long data;
  uint32_t type;
  uint32_t flags;
};

/// A draw per tick without a lock: a counter stepped atomically and scrambled (splitmix64).
bool keeps(Slot* slot) noexcept {
  if (slot->keep == kAlways) return true;
  uint64_t z =
      __atomic_add_fetch(&slot->draws, static_cast<unsigned long>(0x9e3779b97f4a7c15u), __ATOMIC_RELAXED);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) >> 32 < slot->keep;
}

/// Not inlined: nothing of it takes room on the stack while the tick is counted.
[[gnu::noinline]] bool end_tick(const void* context) noexcept {
  note_delivery(context, interrupted_pc(context));
  end_own_handler();
  return true;
}

/// True if the signal is of one of our events. Others' perf events, breakpoints and raise(3) are not.
bool take_tick(siginfo_t* info, void* context) {
  if (info->si_code != kTrapPerf) return false;
  const auto* perf = reinterpret_cast<const PerfInfo*>(&info->si_addr + 1);
  auto* slot = reinterpret_cast<Slot*>(perf->data);
  if (slot < g_slots || slot >= g_slots + PerfTrap::kMost) return false;
  begin_own_handler();
  leave_interrupted_call(context);
  PublishedTables* tables = __atomic_load_n(&slot->tables, __ATOMIC_ACQUIRE);
  if (tables == nullptr || !keeps(slot)) return end_tick(context);
  if (tables->may_fault && !open_for_faults(context)) return end_tick(context);
  // One that the program had blocked comes late, and its place is not known.
  const bool blocked = (perf->flags & kAsynchronous) != 0;
  const bool late = blocked && !follows_delivery(context, interrupted_pc(context));
  late ? lost_published(tables, 1) : tick_at(tables, context, 1);
  return end_tick(context);
}

perf_event_attr attributes(uint64_t period_ns, const Slot* slot) noexcept {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_period = period_ns;
  attr.disabled = 1;
  attr.inherit = attr.inherit_thread = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  attr.sigtrap = attr.remove_on_exec = 1;
  attr.sig_data = reinterpret_cast<uintptr_t>(slot);
  return attr;
}

int open_event(pid_t thread, uint64_t period_ns, const Slot* slot) noexcept {
  perf_event_attr attr = attributes(period_ns, slot);
  return open_perf_event(attr, thread, -1).release();
}

/// Out of the range a program gets its next descriptors from, where there is room.
int move_up(int fd) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return fd;
  rlim_t from = limit.rlim_cur / 2 < 512 ? limit.rlim_cur / 2 : 512;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, static_cast<int>(from));
  if (moved < 0) return fd;
  close(fd);
  return moved;
}

uint64_t id_of(int fd) noexcept {
  uint64_t id = 0;
  return ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0 ? id : 0;
}

bool kernel_is_old() noexcept {
  utsname system;
  char* end = nullptr;
  if (uname(&system) != 0) return true;
  const long major = strtol(system.release, &end, 10);
  const long minor = *end == '.' ? strtol(end + 1, nullptr, 10) : 0;
  return major < 6 || (major == 6 && minor < 1);
}

/// A signal of perf that is blocked stays pending, also across exec(2), where it would kill the next program.
/// A child of fork(2) that blocks everything is on its way there.
bool blocks_traps() noexcept {
  sigset_t mask;
  return pthread_sigmask(SIG_BLOCK, nullptr, &mask) != 0 || sigismember(&mask, SIGTRAP) != 0;
}

Status obstacle() noexcept {
  if (kernel_is_old()) return {ENOSYS, "perf's SIGTRAP is safe from Linux 6.1 on"};
  if (tracer_of(0) != 0) return {EBUSY, "a debugger is attached, and would stop at every tick"};
  if (blocks_traps()) return {EAGAIN, "this thread blocks SIGTRAP; unblock it"};
  return {};
}

Status refused(int error) noexcept {
  if (error == EMFILE || error == ENFILE)
    return {error, "one descriptor per running thread is needed: raise ulimit -n"};
  return {error, "perf_event_open (see pctally engines):"};
}

unsigned claim_slot() noexcept {
  static PublishedTables reserved;
  for (unsigned slot = 0; slot < PerfTrap::kMost; ++slot) {
    PublishedTables* free = nullptr;
    if (__atomic_compare_exchange_n(&g_slots[slot].tables, &free, &reserved, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      return slot;
  }
  return PerfTrap::kMost;
}

uint64_t share_of_all(uint64_t part, uint64_t whole) noexcept {
  return static_cast<uint64_t>(static_cast<double>(part) / static_cast<double>(whole) *
                               static_cast<double>(kAlways));
}

void set_pace(Slot* slot, Pace pace, uint64_t asked_ns, uint64_t* period_ns) noexcept {
  Random random;
  *period_ns = pace == Pace::kAsGiven ? asked_ns : draw_shorter_period(asked_ns, &random);
  slot->keep = *period_ns >= asked_ns ? kAlways : share_of_all(*period_ns, asked_ns);
  slot->draws = static_cast<unsigned long>(random.next());
}

bool contains_all(const MappedArray<pid_t>& known, const MappedArray<pid_t>& threads) noexcept {
  for (pid_t thread : std::span(threads.data(), threads.size()))
    if (!contains(known, thread)) return false;
  return true;
}

}  // namespace

/// Complete if no thread came into being meanwhile: one that did may have inherited an event, or not.
Status PerfTrap::open_round(uint64_t period_ns, MappedArray<pid_t>* threads, bool* complete) noexcept {
  if (auto listed = list_threads(threads); !listed) return listed;
  for (pid_t thread : *threads) {
    int fd = open_event(thread, period_ns, &g_slots[slot_]);
    if (fd < 0 && errno == ESRCH) continue;
    if (fd < 0) return refused(errno);
    fd = move_up(fd);
    if (Root root{fd, id_of(fd)}; roots_->push_back(root)) continue;
    close(fd);
    return {ENOMEM, "no memory for the list of events"};
  }
  MappedArray<pid_t> now;
  if (auto listed = list_threads(&now); !listed) return listed;
  *complete = contains_all(*threads, now);
  return {};
}

Status PerfTrap::open_roots(uint64_t period_ns) noexcept {
  MappedArray<pid_t> threads;
  for (unsigned round = 0; round < kRounds; ++round) {
    bool complete = false;
    if (auto opened = open_round(period_ns, &threads, &complete); !opened) return opened;
    // Where threads never stop coming, the last round stands: nearly all of them have inherited.
    if (complete || round + 1 == kRounds) break;
    close_roots();
  }
  for (const Root& root : *roots_) ioctl(root.fd, PERF_EVENT_IOC_ENABLE, 0);
  return {};
}

void PerfTrap::close_roots() noexcept {
  for (const Root& root : *roots_) {
    if (root.id == 0 || id_of(root.fd) != root.id) continue;
    ioctl(root.fd, PERF_EVENT_IOC_DISABLE, 0);  // a child of fork may hold the descriptor too
    close(root.fd);
  }
  roots_->clear();
}

Status PerfTrap::start(PublishedTables* tables, uint64_t period_ns, Pace pace) noexcept {
  if (running()) return {EBUSY, "the trap is running already"};
  if (auto free = obstacle(); !free) return free;
  if (auto installed = put_in_front(SIGTRAP, take_tick, WhileClaiming::kBlockAll); !installed)
    return installed;
  slot_ = claim_slot();
  if (slot_ == kMost) return {EAGAIN, "too many profiles in one process"};
  uint64_t drawn_ns;
  set_pace(&g_slots[slot_], pace, period_ns, &drawn_ns);
  __atomic_store_n(&g_slots[slot_].tables, tables, __ATOMIC_RELEASE);
  auto opened = open_roots(drawn_ns);
  if (!opened) stop();
  return opened;
}

void PerfTrap::stop() noexcept {
  if (!running()) return;
  close_roots();
  *roots_ = MappedArray<Root>();
  __atomic_store_n(&g_slots[slot_].tables, nullptr, __ATOMIC_RELEASE);
  slot_ = kMost;
}

bool PerfTrap::intact() const noexcept {
  return in_front(SIGTRAP) && (roots_->size() == 0 || id_of((*roots_)[0].fd) == (*roots_)[0].id);
}

void PerfTrap::forget(Descriptors descriptors) noexcept {
  if (!running()) return;
  forget_owed_ticks();
  for (const Root& root : *roots_)
    if (descriptors == Descriptors::kCopied && root.id != 0 && id_of(root.fd) == root.id) close(root.fd);
  roots_->clear();
  stop();
}

Status PerfTrap::probe() noexcept {
  if (auto free = obstacle(); !free) return free;
  UniqueFd fd(open_event(0, kLongestPeriodNs, g_slots));
  return fd.valid() ? Status() : refused(errno);
}

}  // namespace pctally
