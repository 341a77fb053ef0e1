#include "engine/fault_guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
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

constexpr int kSignals[] = {SIGSEGV, SIGBUS};

/// How often the guard can get back in front. Each level is a handler of its own: the program's handler may
/// pass faults on to the level below it, and must not meet itself again there.
constexpr unsigned kLevels = 8;
struct sigaction g_previous[kLevels][2];
unsigned g_levels[2] = {};  ///< in use, per signal

unsigned which(int signal) noexcept { return signal == SIGSEGV ? 0 : 1; }

/// A signal mask as the kernel knows it: 64 signals, on mips 128.
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

#if PCTALLY_FAULT_TABLE

uint64_t target(const int32_t& offset) noexcept {
  return reinterpret_cast<uint64_t>(&offset) + static_cast<uint64_t>(int64_t{offset});
}

/// True if the fault was a guarded cell's.
bool land(const siginfo_t*, void* context) noexcept {
  uint64_t pc = interrupted_pc(context);
  for (const FaultEntry* entry = __start_pctally_faults; entry != __stop_pctally_faults; ++entry) {
    if (target(entry->instruction) != pc) continue;
    set_interrupted_pc(context, target(entry->landing));
    return true;
  }
  return false;
}

#else

/// Does not return if the fault was a guarded cell's: it leaves the handler as a return would, mask restored,
/// but for the place that the thread noted.
bool land(const siginfo_t* info, void* context) noexcept {
  FaultLanding* landing = t_landing;
  if (landing == nullptr || !landing->covers(reinterpret_cast<uintptr_t>(info->si_addr))) return false;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, interrupted_mask(context), nullptr, sizeof(KernelMask));
  __builtin_longjmp(landing->place, 1);
}

#endif

bool is_default(const struct sigaction& action) noexcept {
  return action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN;
}

/// What the kernel would have done: a fault comes again on return and finds the default; a signal that was
/// sent has to be sent again.
void default_action(int signal, const siginfo_t* info) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  if (info->si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

void pass_on(struct sigaction& previous, int signal, siginfo_t* info, void* context) noexcept {
  struct sigaction to = previous;
  bool sent = info->si_code <= 0;
  if (to.sa_handler == SIG_IGN && sent) return;
  if (is_default(to)) return default_action(signal, info);
  if ((to.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) previous.sa_handler = SIG_DFL;
  if ((to.sa_flags & SA_SIGINFO) != 0) return to.sa_sigaction(signal, info, context);
  to.sa_handler(signal);
}

template <unsigned kLevel>
void on_fault(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && land(info, context)) return;
  pass_on(g_previous[kLevel][which(signal)], signal, info, context);
}

using Handler = void (*)(int, siginfo_t*, void*);
constexpr Handler kHandlers[] = {on_fault<0>, on_fault<1>, on_fault<2>, on_fault<3>,
                                 on_fault<4>, on_fault<5>, on_fault<6>, on_fault<7>};
static_assert(sizeof kHandlers / sizeof kHandlers[0] == kLevels,
              "a level without a handler would be SIG_DFL");

bool is_ours(const struct sigaction& action) noexcept {
  if ((action.sa_flags & SA_SIGINFO) == 0) return false;
  for (Handler handler : kHandlers)
    if (action.sa_sigaction == handler) return true;
  return false;
}

/// A level that ends in the default can be used again: whoever still passes faults on to it comes no further.
unsigned level_for(unsigned index, const struct sigaction& before) noexcept {
  for (unsigned level = 0; is_default(before) && level < g_levels[index]; ++level)
    if (g_previous[level][index].sa_handler == before.sa_handler) return level;
  return g_levels[index];
}

Result<void> put_in_front(int signal) noexcept {
  const unsigned index = which(signal);
  struct sigaction before;
  if (sigaction(signal, nullptr, &before) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  if (is_ours(before)) return {};
  const unsigned level = level_for(index, before);
  if (level == kLevels)
    return fail(EAGAIN, "the program replaced its SIGSEGV handler more than %u times while profiled",
                kLevels);
  g_previous[level][index] = before;
  struct sigaction action {};
  action.sa_sigaction = kHandlers[level];
  action.sa_flags =
      SA_SIGINFO | (is_default(before) ? SA_ONSTACK : before.sa_flags & (SA_ONSTACK | SA_RESTART));
  if ((before.sa_flags & SA_NODEFER) != 0) action.sa_flags |= SA_NODEFER;
  action.sa_mask = before.sa_mask;
  if (sigaction(signal, &action, nullptr) != 0) return fail(errno, "sigaction: %s", strerror(errno));
  if (level == g_levels[index]) ++g_levels[index];
  return {};
}

#endif

}  // namespace

#if PCTALLY_GUARDED_CELLS

Result<void> install_fault_guard() noexcept {
  for (int signal : kSignals)
    if (auto installed = put_in_front(signal); !installed) return installed;
  return {};
}

void admit_faults() noexcept {
  // The raw call: no C library keeps a copy of the mask, and none is needed.
  KernelMask faults = {};
  for (int signal : kSignals) set_bit(faults, signal);
  syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &faults, nullptr, sizeof faults);
}

bool blocks_faults(const void* context) noexcept {
  const void* mask = interrupted_mask(context);
  return has_bit(mask, SIGSEGV) || has_bit(mask, SIGBUS);
}

#else

Result<void> install_fault_guard() noexcept { return {}; }
void admit_faults() noexcept {}
bool blocks_faults(const void*) noexcept { return false; }

#endif

}  // namespace pctally
