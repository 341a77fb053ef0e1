#include "fault/fault_guard.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tick/context.h"
#include "tick/guarded_cell.h"

namespace pctally {
namespace {

#if PCTALLY_GUARDED_CELLS

#if PCTALLY_FAULT_TABLE
// Made by the linker where any object has such a section.
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const FaultEntry __start_pctally_faults[];
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const FaultEntry __stop_pctally_faults[];
#endif

/// A signal mask as the kernel knows it: 64 signals.
using KernelMask = unsigned long[_NSIG / 8 / sizeof(unsigned long)];

void set_bit(KernelMask& mask, int signal) noexcept {
  constexpr unsigned kBits = 8 * sizeof mask[0];
  auto bit = static_cast<unsigned>(signal - 1);
  mask[bit / kBits] |= 1ul << bit % kBits;
}

bool has_bit(const void* mask, int signal) noexcept {
  constexpr unsigned kBits = 8 * sizeof(unsigned long);
  auto bit = static_cast<unsigned>(signal - 1);
  return (static_cast<const unsigned long*>(mask)[bit / kBits] >> bit % kBits & 1) != 0;
}

/// Where the thread goes on after a fault in guarded work; null: it does none.
__thread void** t_landing_of_work = nullptr;

void restore_mask(const void* context) noexcept {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, interrupted_mask(context), nullptr, sizeof(KernelMask));
}

/// Leaves the handler as a return would, mask restored, but for the place. Does not return if the fault was
/// one of guarded work.
void land_work(const void* context) noexcept {
  void** landing = t_landing_of_work;
  if (landing == nullptr) return;
  t_landing_of_work = nullptr;
  restore_mask(context);
  __builtin_longjmp(landing, 1);
}

#if PCTALLY_FAULT_TABLE

uint64_t target(const int32_t& offset) noexcept {
  return reinterpret_cast<uint64_t>(&offset) + static_cast<uint64_t>(int64_t{offset});
}

/// True if the fault was a guarded cell's.
bool land(siginfo_t*, void* context) noexcept {
  uint64_t pc = interrupted_pc(context);
  for (const FaultEntry* entry = __start_pctally_faults; entry != __stop_pctally_faults; ++entry) {
    if (target(entry->instruction) != pc) continue;
    set_interrupted_pc(context, target(entry->landing));
    return true;
  }
  land_work(context);
  return false;
}

#else

/// Does not return if the fault was a guarded cell's: it leaves the handler as a return would, mask restored,
/// but for the place that the thread noted.
bool land(siginfo_t* info, void* context) noexcept {
  FaultLanding* landing = t_landing;
  land_work(context);
  if (landing == nullptr || !landing->covers(reinterpret_cast<uintptr_t>(info->si_addr))) return false;
  restore_mask(context);
  __builtin_longjmp(landing->place, 1);
}

#endif

#else

bool land(siginfo_t*, void*) noexcept { return false; }

#endif

bool is_ignored(int signal) noexcept {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

Claim g_first_claim = nullptr;

/// One claim for all there is to guard: a signal has room for one.
bool claim_fault(siginfo_t* info, void* context) noexcept {
  Claim first = __atomic_load_n(&g_first_claim, __ATOMIC_ACQUIRE);
  return (first != nullptr && first(info, context)) || land(info, context);
}

}  // namespace

void claim_faults_first(Claim claim) noexcept { __atomic_store_n(&g_first_claim, claim, __ATOMIC_RELEASE); }

void need_fault_guard(GuardUser user, bool needed) noexcept {
  static unsigned users = 0;
  const auto bit = static_cast<unsigned>(user);
  const unsigned now = needed ? __atomic_or_fetch(&users, bit, __ATOMIC_ACQ_REL)
                              : __atomic_and_fetch(&users, ~bit, __ATOMIC_ACQ_REL);
  for (int signal : {SIGSEGV, SIGBUS}) need_front(signal, now != 0);
}

Status install_fault_guard(int signal) noexcept {
  return put_in_front(signal, claim_fault, WhileClaiming::kBlockAsBefore);
}

Status install_fault_guard_unless_ignored(int signal) noexcept {
  return is_ignored(signal) ? Status() : install_fault_guard(signal);
}

#if PCTALLY_GUARDED_CELLS

/// Its own frame is what a landing returns to.
[[gnu::noinline]] bool run_guarded(void (*work)(void*) noexcept, void* argument) noexcept {
  void* landing[5];
  if (__builtin_setjmp(landing) != 0) return false;
  t_landing_of_work = landing;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  work(argument);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  t_landing_of_work = nullptr;
  return true;
}

Status install_fault_guard() noexcept {
  for (int signal : {SIGSEGV, SIGBUS})
    if (auto installed = install_fault_guard(signal); !installed) return installed;
  return {};
}

void admit_faults() noexcept {
  // The raw call: no C library keeps a copy of the mask, and none is needed.
  KernelMask faults = {};
  for (int signal : {SIGSEGV, SIGBUS})
    if (has_front(signal)) set_bit(faults, signal);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, nullptr, sizeof faults);
}

bool blocks_faults(const void* context) noexcept {
  const void* mask = interrupted_mask(context);
  for (int signal : {SIGSEGV, SIGBUS})
    if (has_front(signal) && has_bit(mask, signal)) return true;
  return false;
}

#else

bool run_guarded(void (*work)(void*) noexcept, void* argument) noexcept {
  work(argument);
  return true;
}
Status install_fault_guard() noexcept { return {}; }
void admit_faults() noexcept {}
bool blocks_faults(const void*) noexcept { return false; }

#endif

}  // namespace pctally
