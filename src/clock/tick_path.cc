#include "clock/tick_path.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/page.h"
#include "clock/deep_stacks.h"
#include "clock/hand_tick.h"
#include "clock/injected_call.h"
#include "clock/thread_hook.h"
#include "fault/fault_guard.h"
#include "tick/context.h"
#include "tick/tick.h"

#if PCTALLY_FOLLOWS_PATHS
extern "C" __attribute__((weak)) int _dl_find_object(void* address, struct dl_find_object* found) noexcept;
extern "C" __attribute__((weak)) void* __libc_stack_end;
#endif

namespace pctally {
namespace {

uint32_t g_recording = 0;  ///< what was left out in others is no concern of this one

#if PCTALLY_FOLLOWS_PATHS

uint32_t recording() noexcept { return __atomic_load_n(&g_recording, __ATOMIC_RELAXED); }

constexpr uint64_t kLeastHandlerRoom = 4096;  ///< on a small stack, for the walk
/// The same where a read may fault (1,540 bytes were used), but for the extended state in that fault's frame.
constexpr uint64_t kFaultingRoom = 1792;
constexpr size_t kKernelSigsetBytes = 8;

/// The stack size of the main thread, and of a thread for which nothing else was asked.
uint64_t default_stack_bytes() noexcept {
  constexpr uint64_t kOfNoLimit = 2 << 20, kMost = 64 << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kOfNoLimit;
  return limit.rlim_cur < kMost ? limit.rlim_cur : kMost;
}

struct KnownStack {
  uint64_t end;
  uint64_t bytes;  ///< of the main thread, at most: arguments and environment lie above its end, and count
  uint64_t roomy;  ///< below so many bytes of it there is room for a walk
};
__thread KnownStack t_stack;

bool is_within(uint64_t address, const KnownStack& known) noexcept {
  return address < known.end && known.end - address < known.bytes;
}

/// Says where the walk may read to; kComplete, or why it must not begin. Both stacks known, no system
/// call is made.
PathEnd prepare(OwnStack* stack) noexcept {
  const KnownStack known = t_stack;
  const bool stands_there = is_within(reinterpret_cast<uint64_t>(__builtin_frame_address(0)), known);
  const bool came_from_there = is_within(stack->registers.stack, known);
  stack->end = came_from_there ? known.end : stack->registers.stack + OwnStack::kGuessedBytes;
  if (stands_there && came_from_there) return PathEnd::kComplete;
  if (has_seccomp_filter()) return PathEnd::kUnreadable;
  if (came_from_there) return PathEnd::kComplete;
  stack->may_fault = in_front(SIGSEGV) && in_front(SIGBUS);
  stack->thread_end = known.end;
  stack->thread_bytes = known.bytes;
  return stack->may_fault ? PathEnd::kComplete : PathEnd::kUnreadable;
}

__thread DeepStacks t_deep;

struct Walk {
  const RegionTable* table;
  OwnStack stack;
  OwnPath path;
};

void walk(void* argument) noexcept {
  auto* walk = static_cast<Walk*>(argument);
  walk_own_stack(*walk->table, walk->stack, &walk->path);
}

/// A function of its own, so that its memory is on no stack where no path is kept.
[[gnu::noinline]] void hand_over_path(const RegionTable& table, const UnwindRegisters& registers,
                                      uint64_t ticks) noexcept {
  Walk work{&table, {.registers = registers}, {}};
  if (!open_own_path(*table.paths, ticks, &work.path)) return;
  if (const PathEnd obstacle = prepare(&work.stack); obstacle != PathEnd::kComplete)
    work.path.end = obstacle;
  else
    (void)run_guarded(walk, &work);
  if (is_within(work.stack.registers.stack, t_stack))
    t_deep.note({table.paths, recording()}, work.stack.registers.stack, work.stack.end, work.path.frames);
  close_own_path(*table.paths, work.path);
}

/// rt_sigprocmask(2), by no function of the C library: syscall(2) is ours, and takes 700 bytes of the stack.
long change_mask_of_kernel(int how, uint64_t set) noexcept {
#if defined(__x86_64__)
  long result;
  register size_t bytes __asm__("r10") = kKernelSigsetBytes;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_rt_sigprocmask), "D"(how), "S"(set), "d"(nullptr), "r"(bytes)
                   : "rcx", "r11", "memory");
  return result;
#else
  register long number __asm__("x8") = SYS_rt_sigprocmask;
  register long result __asm__("x0") = how;
  register uint64_t first __asm__("x1") = set;
  register uint64_t second __asm__("x2") = 0;
  register size_t bytes __asm__("x3") = kKernelSigsetBytes;
  __asm__ volatile("svc #0" : "+r"(result) : "r"(number), "r"(first), "r"(second), "r"(bytes) : "memory");
  return result;
#endif
}

/// The kernel reads the set before it finds that `how` is none of its own.
bool is_readable(uint64_t address) noexcept {
  constexpr int kNothing = 0x7fffffff;
  return change_mask_of_kernel(kNothing, address & ~uint64_t{7}) != -EFAULT;
}

/// What a walk takes of the stack below the handler. Of a known stack none of its reads faults.
uint64_t room_of_walk(const void* context) noexcept {
  if (is_within(interrupted_registers(context).stack, t_stack)) return kLeastHandlerRoom;
  const uint64_t faulting = kFaultingRoom + extended_state_bytes(context);
  return faulting > kLeastHandlerRoom ? faulting : kLeastHandlerRoom;
}

bool is_readable_down_to(uint64_t address, uint64_t bytes) noexcept {
  for (uint64_t at = kSmallestPageBytes; at < bytes; at += kSmallestPageBytes)
    if (!is_readable(address - at)) return false;
  return is_readable(address - bytes);
}

/// True where less of the stack is left than a walk takes: of an alternate one; of the thread's own, where
/// programs that reserve all of it (Ruby) stand at its end; or of one that is not known (a coroutine's).
/// Below the latter begins memory that cannot be read. Asked before any of that is taken.
bool is_cramped(const void* context) noexcept {
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  const KnownStack known = t_stack;
  const uint64_t room = room_of_walk(context);
  if (is_near_end_of_stack(context, here, room)) return true;
  if (is_on_alternate_stack(context, here)) return false;
  const bool within = is_within(here, known);
  if (within && known.end - here < known.roomy) return false;
  if (has_seccomp_filter()) return within;  // elsewhere prepare() refuses the walk
  return !is_readable_down_to(here, room);
}

#else

void hand_over_path(const RegionTable&, const UnwindRegisters&, uint64_t) noexcept {}
bool is_cramped(const void*) noexcept { return false; }

#endif

uint64_t interpreter_entry() noexcept {
  const uint64_t base = getauxval(AT_BASE);
  return base == 0 ? 0 : base + reinterpret_cast<const ElfW(Ehdr)*>(base)->e_entry;
}

[[gnu::noinline]] void hand_over_place(const RegionTable& table, uint64_t pc, uint64_t ticks) noexcept {
  OwnPath path;
  if (!open_own_path(*table.paths, ticks, &path)) return;
  add_tick_place(table, pc, &path);
  close_own_path(*table.paths, path);
}

[[gnu::noinline]] void hand_over_cut(const RegionTable& table, PathEnd why, uint64_t ticks) noexcept {
  OwnPath path;
  if (!open_own_path(*table.paths, ticks, &path)) return;
  path.end = why;
  close_own_path(*table.paths, path);
}

/// True if the tick was left out, in a stack that is sampled at a lower rate; else `ticks` is what it counts.
bool leaves_out(const RegionTable& table, const void* context, uint64_t* ticks) noexcept {
#if PCTALLY_FOLLOWS_PATHS
  return t_deep.leaves_out({table.paths, recording()}, t_stack.end - t_stack.bytes,
                           interrupted_registers(context).stack, ticks);
#else
  (void)table, (void)context, (void)ticks;
  return false;
#endif
}

void count_tick(const RegionTable& table, const void* context, uint64_t ticks) noexcept {
  UnwindRegisters registers = interrupted_registers(context);
  skip_injected_call(table, &registers);
  const uint64_t pc = registers.pc;
  if (tick(table, pc, ticks) == TickOutcome::kStopped || table.paths == nullptr) return;
  if (table.paths->slots.head->one_frame != 0)
    hand_over_place(table, pc, ticks);
  else if (is_cramped(context))
    hand_over_cut(table, PathEnd::kNoRoom, ticks);
  else
    hand_over_path(table, registers, ticks);
}

}  // namespace

#if PCTALLY_FOLLOWS_PATHS

/// glibc keeps what it knows of a thread above the thread's stack.
void know_own_stack(uint64_t bytes) noexcept {
  if (bytes == 0) bytes = default_stack_bytes();
  t_stack = {static_cast<uint64_t>(pthread_self()), bytes, bytes - bytes / 4};
}

void know_main_stack() noexcept {
  if (&__libc_stack_end == nullptr) return;
  const auto end = reinterpret_cast<uint64_t>(__libc_stack_end);
  const uint64_t bytes = default_stack_bytes();
  t_stack = {page_end(end), bytes, bytes / 2};  // the kernel lets arguments and environment take a quarter
}

bool can_find_own_tables() noexcept { return _dl_find_object != nullptr; }

bool find_own_tables(uint64_t address, CfiSections* found) noexcept {
  dl_find_object object;
  if (_dl_find_object == nullptr || _dl_find_object(reinterpret_cast<void*>(address), &object) != 0 ||
      object.dlfo_eh_frame == nullptr)
    return false;
  // If an object has a gap between its segments, that is the segment of the address; the tables may lie in
  // another one.
  const void* tables = object.dlfo_eh_frame;
  const bool within = tables >= object.dlfo_map_start && tables < object.dlfo_map_end;
  if (!within && _dl_find_object(object.dlfo_eh_frame, &object) != 0) return false;
  return find_loaded_sections(reinterpret_cast<uint64_t>(tables),
                              reinterpret_cast<uint64_t>(object.dlfo_map_end), found);
}

uint64_t owed_ticks(PublishedTables* tables) noexcept {
  const uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return 0;
  const OwnPaths* paths = tables->slots[slot].paths;
  leave_table(tables, slot);
  return paths == nullptr ? 0 : t_deep.owed({paths, recording()});
}

#else

void know_own_stack(uint64_t) noexcept {}
void know_main_stack() noexcept {}
bool can_find_own_tables() noexcept { return false; }
bool find_own_tables(uint64_t, CfiSections*) noexcept { return false; }
uint64_t owed_ticks(PublishedTables*) noexcept { return 0; }

#endif

void forget_owed_ticks() noexcept { __atomic_add_fetch(&g_recording, 1, __ATOMIC_RELAXED); }

void know_own_code(OwnPaths* paths) noexcept {
  forget_owed_ticks();
  paths->find_tables = find_own_tables;
  paths->entry_points[0] = getauxval(AT_ENTRY);
  paths->entry_points[1] = interpreter_entry();
  const uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
  if (!kReturnsInRegister || vdso == 0) return;
  const auto* image = reinterpret_cast<const unsigned char*>(vdso);
  const uint64_t end = page_end(ElfImage(image, kSmallestPageBytes).end_of_segments());  // mapped up to there
  paths->frameless = find_frameless(image, end, vdso);
}

void tick_at(PublishedTables* tables, const void* context, uint64_t weight) noexcept {
  const uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return;
  const RegionTable& table = tables->slots[slot];
  if (table.paths == nullptr || !leaves_out(table, context, &weight)) count_tick(table, context, weight);
  leave_table(tables, slot);
}

bool open_for_faults(const void* context) noexcept {
  if (!blocks_faults(context)) return true;
  if (has_seccomp_filter()) return note_filter_cost(FilterCost::kTick), false;
  admit_faults();
  return true;
}

bool tick_by_hand(PublishedTables* tables, uint64_t pc, uint64_t weight) noexcept {
  const HandTick uninterrupted;
  const uint32_t slot = enter_table(tables);
  if (slot == kNoTable) return false;
  const RegionTable& table = tables->slots[slot];
  const TickOutcome outcome = tick(table, pc, weight);
  OwnPath path;
  if (table.paths != nullptr && outcome != TickOutcome::kStopped &&
      open_own_path(*table.paths, weight, &path)) {
    add_place_by_hand(table, pc, &path);
    close_own_path(*table.paths, path);
  }
  leave_table(tables, slot);
  return outcome != TickOutcome::kStopped;
}

}  // namespace pctally
