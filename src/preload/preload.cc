// What LD_PRELOAD brings into a program by engines that run in it: joins the profile file, starts the clock
// the file's header names, and is otherwise not there. If anything is amiss it does nothing at all.
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "base/errno_kept.h"
#include "base/kernel/debugger.h"
#include "base/kernel/proc_file.h"
#include "base/next_call.h"
#include "base/sanitizer.h"
#include "clock/clock_watch.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"
#include "clock/thread_record.h"
#include "clock/tick_clock.h"
#include "clock/tick_path.h"
#include "fault/fault_guard.h"
#include "fault/file_guard.h"
#include "fault/sent_fault.h"
#include "histfile/call_paths.h"
#include "histfile/injection.h"
#include "histfile/publish.h"
#include "preload/exec_hook.h"
#include "preload/unload_hook.h"
#include "process/address_space.h"
#include "process/process_start.h"

extern "C" int __cxa_atexit(void (*function)(void*), void* argument, void* object) noexcept;

namespace pctally {
namespace {

struct Injected {
  ProfileFile file;
  AddressSpace space;
  TickClock clock;
  uint32_t process = 0;
  uint64_t ticks_at_last_check = 0;
  bool children = true;
};

// Never destroyed: ticks may outlast every destructor. Not an Immortal, for which the compiler would register
// a destructor in every program.
alignas(Injected) unsigned char g_storage[sizeof(Injected)];
Injected* g_injected = nullptr;
PublishedTables g_tables;
OwnPaths g_paths;
char* g_met = nullptr;  ///< not 0 in a process that has been entered; the kernel clears it in each child
pid_t g_pid = 0;        ///< which process that is: qemu-user clears nothing

/// Where one of its signals is ignored paths are followed on the stacks that are known.
bool guard_paths() noexcept {
  return install_fault_guard_unless_ignored(SIGSEGV) && install_fault_guard_unless_ignored(SIGBUS);
}

/// Where this process's call paths, or the places of its ticks, go, if the recording keeps any.
void find_paths() noexcept {
  g_paths.slots = path_slots(g_injected->file);
  if (g_paths.slots.head == nullptr) return;
  const bool reads_stacks = g_paths.slots.head->one_frame == 0;
  if (reads_stacks && (!can_find_own_tables() || !guard_paths())) return;
  know_own_code(&g_paths);
  know_main_stack();
}

/// The table's paths are this process's. Unit of the segment that the program begins in.
void add_paths(RegionTable* table) noexcept {
  if (g_paths.find_tables == nullptr) return;
  uint64_t index = 0;
  const Region* entry = find_region(*table, g_paths.entry_points[0], &index);
  g_paths.program = entry == nullptr ? 0 : entry->segment;
  g_paths.process = g_injected->process;
  table->paths = g_injected->process == 0 ? nullptr : &g_paths;
}

/// Unblocks the signal that the guard of the file's memory needs, which programs may block, as some do around
/// fork. A signal that was sent meanwhile goes on waiting. No whole mask is set: the C library would copy it,
/// and the stack of a handler may be short; and it would unblock its own signals, which stay blocked there.
class BusErrorsAdmitted {
 public:
  BusErrorsAdmitted() {
    begin_own_handler();
    ask();
    change(SIG_UNBLOCK, bus_blocked_, false);
  }
  BusErrorsAdmitted(const BusErrorsAdmitted&) = delete;
  BusErrorsAdmitted& operator=(const BusErrorsAdmitted&) = delete;
  ~BusErrorsAdmitted() {
    end_own_handler();  // sends it again, blocked
    change(SIG_BLOCK, bus_blocked_, false);
    change(SIG_UNBLOCK, !bus_blocked_, !segv_blocked_);
  }

 private:
  [[gnu::noinline]] void ask() noexcept {
    sigset_t mask;
    next_sigmask(SIG_BLOCK, nullptr, &mask);
    bus_blocked_ = sigismember(&mask, SIGBUS) == 1;
    segv_blocked_ = sigismember(&mask, SIGSEGV) == 1;
  }
  [[gnu::noinline]] static void change(int how, bool bus, bool segv) noexcept {
    if (!bus && !segv) return;
    sigset_t set;
    sigemptyset(&set);
    if (bus) sigaddset(&set, SIGBUS);
    if (segv) sigaddset(&set, SIGSEGV);
    next_sigmask(how, &set, nullptr);
  }

  bool bus_blocked_ = false, segv_blocked_ = false;
};

/// A process record of its own, and a table that counts for it.
void enter_process() noexcept {
  char comm[17] = {};
  prctl(PR_GET_NAME, comm);
  const char* asked = g_injected->file.header().engine;
  g_injected->process = add_process(g_injected->file, getpid(), getppid(), comm, asked);
  RegionTable table = g_injected->space.table(g_injected->file, g_injected->process);
  table.deferred = g_injected->file.deferred();
  table.deferred_capacity = kDeferredSlots;
  add_paths(&table);
  publish(&g_tables, table);
}

/// Exact also where a timer runs, or did before an exec: CLOCK_PROCESS_CPUTIME_ID goes by kernel ticks then.
uint64_t cpu_used_ns() noexcept {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return to_ns(used.ru_utime) + to_ns(used.ru_stime);
}

/// What the process used before the engine was in it.
void count_start(uint32_t before) noexcept {
  if (g_injected->process == 0) return;
  const uint64_t used_ns = cpu_used_ns();
  bool before_is_whole = strcmp(g_injected->file.header().engine, clock_name(ClockKind::kTimer)) == 0;
  uint64_t ticks = account_start(g_injected->file, g_injected->process, before, before_is_whole, used_ns);
  if (ticks == 0 || !count_published(&g_tables, kStartPc, ticks)) return;
  uint64_t index = 0;
  const RegionTable& table = g_tables.slots[g_tables.current];
  const Region* start = find_region(table, kStartPc, &index);
  OwnPath path;
  if (table.paths == nullptr || start == nullptr || !open_own_path(g_paths, ticks, &path)) return;
  add_own_place(g_paths, PathPlace::code(start->segment, index + start->tree_bias), &path);
  close_own_path(g_paths, path);
}

ProcessRecord* own_record() noexcept {
  return pool_at<ProcessRecord>(g_injected->file.pool(), g_injected->process);
}

/// The image ends, or does not: the next one's start is what the process uses from here on. A child of
/// vfork(2) is in its parent's memory, and not its parent.
void note_exec(bool begins) noexcept {
  if (g_injected->process == 0 || has_seccomp_filter() || getpid() != g_pid) return;
  BusErrorsAdmitted admitted;
  own_record()->cpu_ns = begins ? cpu_used_ns() : 0;
}

/// A mark in the ring of ticks that were put aside.
void note_unload(uintptr_t start, uintptr_t end) noexcept {
  if (g_injected->process == 0 || has_seccomp_filter() || getpid() != g_pid) return;
  const uint32_t slot = enter_table(&g_tables);
  if (slot == kNoTable) return;
  BusErrorsAdmitted admitted;
  const RegionTable& table = g_tables.slots[slot];
  if (table.deferred != nullptr)
    (void)defer_tick(table.deferred, table.deferred_capacity, start, 0, table.process,
                     &table.ledger->deferred, end);
  leave_table(&g_tables, slot);
}

/// The engine that really runs: it may not be the one that was asked for, or none.
void name_engine() noexcept {
  if (g_injected->process == 0) return;
  ClockKind kind = g_injected->clock.kind();
  ProcessRecord* process = own_record();
  process->signal = static_cast<uint32_t>(clock_signal(kind));
  strncpy(process->engine, kind == ClockKind::kNone ? "" : clock_name(kind), sizeof process->engine - 1);
}

void note_start(Status started) noexcept {
  if (!started && g_injected->process != 0) own_record()->note = ProcessNote::kTimerless;
  name_engine();
}

/// The watch's check: programs take signals and close descriptors that they believe nobody uses. A clock
/// whose ticks came all the same (the program's handler calls ours) is left alone.
void check_clock() noexcept {
  BusErrorsAdmitted admitted;
  ProcessRecord* process = own_record();
  uint64_t ticks = load_relaxed(&process->ticks);
  bool silent = ticks == g_injected->ticks_at_last_check;
  g_injected->ticks_at_last_check = ticks;
  if (!silent || g_injected->clock.kind() != ClockKind::kTrap || g_injected->clock.intact()) return;
  auto replacement = g_injected->clock.replace();
  if (replacement.error() == EBUSY) return;
  const auto replaced = bool(replacement);
  if (replaced) name_engine();
  process->note = replaced ? ProcessNote::kReplaced : ProcessNote::kSignalTaken;
}

/// The timers' signal cannot be taken but by a system call that is not the C library's: the
/// recorder notices that.
void watch_clock() noexcept {
  ClockKind kind = g_injected->clock.kind();
  if (g_injected->process != 0 && kind == ClockKind::kTrap) (void)ClockWatch::start(check_clock);
}

/// A filter that the program has installed goes with its children, and may kill them for a system
/// call of ours.
void give_up_behind_filter() noexcept {
  if (g_met != nullptr) *g_met = 1;
  if (g_injected->process != 0) own_record()->note = ProcessNote::kFiltered;
  g_injected->process = 0;
}

/// A handler of another library that ran before ours may have made one of our calls, which enters the child.
bool is_entered(pid_t self) noexcept {
  const bool entered = g_met != nullptr && *g_met != 0 && self == g_pid;
  if (g_met != nullptr) *g_met = 1;
  g_pid = self;
  return entered;
}

void enter_child(Descriptors descriptors) noexcept {
  const ErrnoKept kept;  // where the child finds no room for a timer
  if (has_seccomp_filter()) {
    g_tables.current = kNoTable;
    ClockWatch::forget();
    return give_up_behind_filter();
  }
  if (is_entered(getpid())) return;
  forget_in_flight(&g_tables);
  g_tables.current = kNoTable;
  ClockWatch::forget();
  if (!g_injected->children) {
    g_injected->process = 0;
    return g_injected->clock.forget(descriptors);
  }
  BusErrorsAdmitted admitted;
  enter_process();
  count_start(0);
  note_start(g_injected->clock.restart(descriptors));
  watch_clock();
}

void in_child() { enter_child(Descriptors::kCopied); }

/// A child of the bare clone(2): the C library runs no handlers of fork(2) in it.
void notice_unseen_fork() {
  if (*g_met == 0) enter_child(Descriptors::kPerhapsShared);
}

/// Filters that came after the recorder's: one that the program brought itself may kill for a timer.
bool is_kept_out() noexcept {
  ProcStatus status;
  if (!read_proc_status(0, &status)) return false;
  const char* known = getenv(kFiltersVariable);
  const auto before = known == nullptr ? 0u : static_cast<unsigned>(strtol(known, nullptr, 10));
  return is_debugger(status.tracer) || status.filters > before;
}

int has_needed(dl_phdr_info* object, size_t, void* found) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == DT_NEEDED) *static_cast<bool*>(found) = true;
  }
  return 1;  // the first object is the program
}

/// A Go program without C code may be linked dynamically (-buildmode=pie) and need no library. Its threads
/// have no memory of the C library's, and it takes all signals by system calls of its own: SIGTRAP ends it.
bool uses_no_libc() noexcept {
  bool needs_libraries = false;
  dl_iterate_phdr(has_needed, &needs_libraries);
  return !needs_libraries;
}

/// With --no-children what we put into the environment goes no further.
void clean_environment() noexcept {
  unsetenv(kRecordVariable);
  unsetenv(kIdVariable);
  unsetenv(kChildrenVariable);
  unsetenv(kFiltersVariable);
  if (const char* options = getenv("ASAN_OPTIONS");
      options != nullptr && strcmp(options, kSanitizerOption) == 0)
    unsetenv("ASAN_OPTIONS");
  const char* list = getenv("LD_PRELOAD");
  const char* rest = list == nullptr ? nullptr : strchr(list, ':');
  if (rest != nullptr)
    setenv("LD_PRELOAD", rest + 1, 1);
  else
    unsetenv("LD_PRELOAD");
}

/// The recorder's entry in LD_PRELOAD, the first, where it has been taken out.
struct TakenOut {
  char entry[PATH_MAX];
  size_t bytes = 0;      ///< of it, with the colon behind it; 0: it is in
  char* list = nullptr;  ///< the variable then
  size_t rest = 0;       ///< and its length since
};
TakenOut g_taken_out;

/// Both: access(2) knows nothing of Landlock, and open(2) may succeed by capabilities that end with the exec.
bool is_here(const char* path) noexcept {
  const int before = errno;
  const int fd = access(path, R_OK) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  const bool here = fd >= 0 || errno == EMFILE || errno == ENFILE;
  if (fd >= 0) close(fd);
  errno = before;
  return here;
}

bool is_ours(const char* entry, size_t length) noexcept {
  constexpr size_t kLength = sizeof kPreloadLibrary - 1;
  return length >= kLength && length < sizeof g_taken_out.entry &&
         strncmp(entry + length - kLength, kPreloadLibrary, kLength) == 0;
}

/// Where a new root does not have the library, the dynamic linker would say so in the output of each program
/// executed there; where the next root has it again (bwrap changes it twice) it is put back. In place,
/// without the heap: a child of vfork may be the caller.
void follow_root() noexcept {
  TakenOut& out = g_taken_out;
  char* list = getenv("LD_PRELOAD");
  if (list == nullptr) return;
  const size_t length = strcspn(list, ":");
  if (out.bytes == 0 && is_ours(list, length)) {
    memcpy(out.entry, list, length);
    out.entry[length] = '\0';
    if (is_here(out.entry)) return;
    out.bytes = list[length] == ':' ? length + 1 : length;
    memmove(list, list + out.bytes, strlen(list + out.bytes) + 1);
    out.list = list;
    out.rest = strlen(list);
  } else if (out.bytes != 0 && list == out.list && strlen(list) == out.rest && is_here(out.entry)) {
    memmove(list + out.bytes, list, out.rest + 1);
    const size_t entry = strlen(out.entry);
    memcpy(list, out.entry, entry);
    if (out.bytes > entry) list[entry] = ':';
    out.bytes = 0;
  }
}

/// Which variable of an environment names our library, to whoever may not read it: another user, or a program
/// behind Landlock. kNoVariable: none does.
size_t unreadable_variable(char* const* environment) noexcept {
  constexpr char kPreload[] = "LD_PRELOAD=";
  constexpr size_t kBytes = sizeof kPreload - 1;
  if (environment == nullptr || has_seccomp_filter()) return kNoVariable;
  for (size_t i = 0; environment[i] != nullptr; ++i) {
    if (strncmp(environment[i], kPreload, kBytes) != 0) continue;
    const char* list = environment[i] + kBytes;
    const size_t length = strcspn(list, ":");
    if (!is_ours(list, length)) return kNoVariable;
    auto* entry = static_cast<char*>(alloca(length + 1));
    memcpy(entry, list, length);
    entry[length] = '\0';
    return is_here(entry) ? kNoVariable : i;
  }
  return kNoVariable;
}

__attribute__((constructor)) void enter() {
  const char* path = getenv(kRecordVariable);
  if (path == nullptr || getauxval(AT_SECURE) != 0 || in_valgrind() || is_kept_out() || uses_no_libc())
    return;
  const char* id = getenv(kIdVariable);
  auto file = ProfileFile::join(path, id == nullptr ? "" : id);
  ClockKind kind;
  if (!file || !clock_of(file->header().engine, &kind)) return;
  const uint64_t period_ns = file->header().period_ns;  // read once: it may be gone the next moment
  if (period_ns == 0) return;
  auto* injected = new (g_storage) Injected();
  injected->file = std::move(*file);
  g_tables.may_fault = bool(guard_file(injected->file));
  const char* children = getenv(kChildrenVariable);
  injected->children = children == nullptr || children[0] != '0';
  if (!injected->children) clean_environment();
  if (!injected->space.map_process(injected->file, 0)) return;
  (void)injected->space.map(injected->file, kStartPc, kStartPc + 1, 0, start_object());
  g_injected = injected;
  find_paths();
  uint32_t before = own_image_before(injected->file, cpu_used_ns());
  enter_process();
  count_start(before);
  // Not a ForkHook: there is no lock, and a program that is not entered gets no handler.
  pthread_atfork(nullptr, nullptr, in_child);
  g_met = page_cleared_in_children();
  (void)is_entered(getpid());
  set_exec_hook(note_exec, unreadable_variable);
  set_unload_hook(note_unload);
  set_entry_hooks(g_met == nullptr ? nullptr : notice_unseen_fork, follow_root);
  note_start(injected->clock.start(&g_tables, {kind, period_ns, Pace::kAsGiven, false, true}));
  watch_clock();
}

/// From outside, time without ticks looks as if the program had taken their signal, or blocked it: threads
/// without a timer have it, and under trap threads that end before their first tick. Here it is known who has
/// the signal; and what threads with timers blocked has an account of its own.
void correct_note(ProcessRecord* process) noexcept {
  const ClockKind kind = g_injected->clock.kind();
  const bool guessed = (process->note == ProcessNote::kSignalTaken && kind != ClockKind::kNone) ||
                       (process->note == ProcessNote::kBlocked && kind == ClockKind::kTimer);
  if (guessed && g_injected->clock.intact()) process->note = ProcessNote::kNone;
}

/// What is known of the time of threads without a timer, while the records of threads are there. Timers that
/// took the trap's place do not have what ran before.
void account_threads(ProcessRecord* process) noexcept {
  if (g_injected->clock.kind() != ClockKind::kTimer) return;
  if (process->note != ProcessNote::kTogether && !g_injected->clock.replaced())
    process->unseen_start_ns = unseen_start_ns(process->cpu_ns - process->entered_cpu_ns);
  end_process();
}

/// A child of the bare clone(2) that nothing has entered may end by exit(3): recording and clock are its
/// parent's.
void leave(void*) {
  if (g_injected->process == 0 || (g_met != nullptr && *g_met == 0)) return;
  if (has_seccomp_filter()) {                                            // no system call of ours
    const bool untimed = g_injected->clock.kind() == ClockKind::kTimer;  // threads inherit what traps
    if ((untimed && filter_cost(FilterCost::kThread)) || filter_cost(FilterCost::kTick))
      own_record()->note = ProcessNote::kFiltered;
    return;
  }
  if (getpid() != g_pid) return;
  ClockWatch::stop();
  BusErrorsAdmitted admitted;
  ProcessRecord* process = own_record();
  process->cpu_ns = cpu_used_ns();
  correct_note(process);
  if (!g_threads.held_by_this_thread()) {  // else a handler that interrupted a call of ours is what exits
    account_threads(process);
    g_injected->clock.stop();
  }
  process->blocked_ns = take_untimed_ns(Untimed::kBlocked);
  process->small_stack_ns = take_untimed_ns(Untimed::kSmallStack);
  process->timerless_ns = take_untimed_ns(Untimed::kLimit);
  __atomic_fetch_or(&process->flags, kProcessExited, __ATOMIC_RELAXED);
}

/// A preloaded library is finalised before those that the program links, whose destructors are the program's
/// code. What is registered meanwhile is called when all are.
__attribute__((destructor)) void leave_at_last() {
  if (g_injected == nullptr) return;
#ifdef __GLIBC__  // musl's exit(3) has called what is registered by then
  const bool waits = !has_seccomp_filter() && !has_alternate_stack();  // which a destructor may free
  if (waits && __cxa_atexit(leave, nullptr, nullptr) == 0) return;
#endif
  leave(nullptr);
}

}  // namespace
}  // namespace pctally

namespace {

constinit pctally::NextCall g_chroot("chroot", chroot);
constinit pctally::NextCall g_setns("setns", setns);

__attribute__((constructor)) void find_calls() noexcept { pctally::find_all(g_chroot, g_setns); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int chroot(const char* path) noexcept {
  const int result = g_chroot.get()(path);
  if (result == 0) pctally::check_root();
  return result;
}

/// Into another mount namespace: nsenter(1).
extern "C" __attribute__((visibility("default"))) int setns(int fd, int kind) noexcept {
  const int result = g_setns.get()(fd, kind);
  if (result == 0) pctally::check_root();
  return result;
}
