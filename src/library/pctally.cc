// The C API over the capture core. One recording per process, under one lock; ticks take no lock.
#include "pctally/pctally.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <new>

#include "base/call_lock.h"
#include "base/fork_hook.h"
#include "base/kernel/period.h"
#include "clock/own_process.h"
#include "clock/thread_hook.h"
#include "clock/tick_clock.h"
#include "clock/tick_path.h"
#include "dialect/session.h"
#include "fault/file_guard.h"
#include "histfile/publish.h"
#include "library/self_paths.h"
#include "library/start_options.h"
#include "process/deferred_resolver.h"

#ifndef PCTALLY_VERSION
#define PCTALLY_VERSION "0.1.0"
#endif

#define PCTALLY_API extern "C" __attribute__((visibility("default")))

namespace pctally {
namespace {

constexpr uint64_t kLibraryBytes = 8 << 20;  ///< nobody grows the file from outside

/// One recording. Two address spaces, so that the published one is never changed under a tick.
struct Recording {
  ProfileFile file;
  AddressSpace spaces[2];
  unsigned space_in_use = 0;
  SelfPaths paths;
  KnownProcess self;
  ResolverState resolver;
  uint32_t process = 0;
  TickClock clock;
  rusage started{};
};

constinit Mutex g_mutex;
// Not an Immortal: one recording after another is made and destroyed here.
alignas(Recording) unsigned char g_storage[sizeof(Recording)];
Recording* g_recording GUARDED_BY(g_mutex) = nullptr;
PublishedTables g_tables;
pctally_tick_ledger g_last_ledger GUARDED_BY(g_mutex){};
const char* g_engine = "";
bool g_ever = false;
bool g_asked = false;  ///< for a recording; read at the end of programs that have none, without the lock
__thread Error t_error;

int failed(const Error& error) noexcept {
  t_error = error;
  errno = error.code;
  return -1;
}

int not_recording() noexcept {
  return failed(fail(ESRCH, "no recording is running: call pctally_start first").error());
}

void comm_of_self(char (&comm)[17]) noexcept {
  memset(comm, 0, sizeof comm);
  prctl(PR_GET_NAME, comm);
}

/// Where nothing else is asked for: pctally.<comm>.<pid>.pct.
struct DefaultName {
  char text[64];
  DefaultName() noexcept {
    char comm[17];
    comm_of_self(comm);
    for (char* c = comm; *c != '\0'; ++c)
      if (*c == '/') *c = '_';
    snprintf(text, sizeof text, "pctally.%s.%d.pct", comm, static_cast<int>(getpid()));
  }
};

Result<ProfileFile> create_file(const pctally_options& options) noexcept {
  ProfileFile::Settings settings;
  settings.path = options.path;
  settings.overwrite = (options.flags & PCTALLY_OVERWRITE) != 0;
  settings.engine = clock_name(ClockKind::kNone);
  settings.period_asked_ns = settings.period_ns = options.period_ns;
  settings.kernel_observed = true;
  settings.deferred = true;
  settings.bytes = kLibraryBytes;
  if (keeps_paths(options)) settings.bytes += SelfPaths::file_bytes(options.path_bytes);
  Random random;
  if ((options.flags & PCTALLY_FIXED_PERIOD) == 0)
    settings.period_ns = draw_period(options.period_ns, &random);
  auto file = ProfileFile::create(settings);
  if (file) return file;
  const char* remedy = file.error().code == EEXIST ? "set options.path, or PCTALLY_OVERWRITE in options.flags"
                                                   : "set options.path to another place";
  return fail(file.error().code, "%s; %s", file.error().text, remedy);
}

RegionTable table_of(Recording& recording, AddressSpace& space) noexcept {
  RegionTable table = space.table(recording.file, recording.process);
  table.deferred = recording.file.deferred();
  table.deferred_capacity = kDeferredSlots;
  table.paths = recording.paths.own();
  return table;
}

/// Builds the spare address space from /proc and makes it the one ticks use.
bool refresh(Recording& recording) noexcept {
  unsigned spare = 1 - recording.space_in_use;
  AddressSpace& space = recording.spaces[spare];
  space.clear();
  if (!space.map_process(recording.file, 0)) return false;
  publish(&g_tables, table_of(recording, space));
  recording.space_in_use = spare;
  return true;
}

void resolve_all(Recording& recording, bool final) noexcept {
  DeferredTick deferred;
  recording.self.fresh = false;
  while (take_deferred(&recording.file, &recording.resolver, final, &deferred))
    resolve_tick(&recording.file, &recording.self, deferred);
  recording.file.make_room(0);
  recording.file.beat();
}

pctally_tick_ledger account(const Ledger& ledger) noexcept {
  pctally_tick_ledger result{};
  result.counted = ledger.counted;
  result.outside = ledger.outside + (ledger.deferred - ledger.resolved);
  result.full = ledger.full;
  result.lost = ledger.lost;
  result.samples = ledger.samples;
  result.ticks = result.counted + result.outside + result.full + result.lost;
  return result;
}

void book_cpu_time(Recording& recording) noexcept {
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  FileHeader& header = recording.file.header();
  header.cpu_user_ns = to_ns(now.ru_utime) - to_ns(recording.started.ru_utime);
  header.cpu_system_ns = to_ns(now.ru_stime) - to_ns(recording.started.ru_stime);
  header.cpu_known = 1;
  auto* process = pool_at<ProcessRecord>(recording.file.pool(), recording.process);
  process->cpu_ns = header.cpu_user_ns + header.cpu_system_ns;
}

void abandon() noexcept REQUIRES(g_mutex) {
  unguard_file();
  g_recording->~Recording();
  g_recording = nullptr;
}

/// The child of a fork: its parent goes on recording, it does not.
void in_child() {
  note_own_process();
  ThreadTimers::forget_parent();
  CallLock locked(g_mutex);
  forget_in_flight(&g_tables);
  g_tables.current = kNoTable;
  if (g_recording == nullptr) return;
  g_recording->clock.forget();
  if (has_seccomp_filter()) g_recording->file.leave_open();
  abandon();
}

// No other lock of a ForkHook is taken inside this one.
const ForkHook g_fork_hook(3, &g_mutex, in_child);

/// What the report has to know about the clock that really runs.
void name_engine(Recording& recording) noexcept {
  ClockKind kind = recording.clock.kind();
  FileHeader& header = recording.file.header();
  g_engine = clock_name(kind);
  snprintf(header.engine, sizeof header.engine, "%s", g_engine);
  header.clock_tick_ns = tick_grid_ns(kind);
  header.kernel_observed = kind != ClockKind::kTrap;
  auto* process = pool_at<ProcessRecord>(recording.file.pool(), recording.process);
  snprintf(process->engine, sizeof process->engine, "%s", g_engine);
}

Result<void> begin(Recording& recording, const pctally_options& options) noexcept {
  char comm[17];
  comm_of_self(comm);
  const char* engine = recording.file.header().engine;
  note_own_process();
  recording.process = add_process(recording.file, getpid(), getppid(), comm, engine);
  if (keeps_paths(options))
    if (auto kept = recording.paths.start(&recording.file, options.path_bytes); !kept) return kept;
  getrusage(RUSAGE_SELF, &recording.started);
  if (!refresh(recording)) return fail(ENOMEM, "cannot read /proc/self/maps");
  ClockPlan plan = plan_of(options, recording.file.header().period_ns);
  if (plan.kind != ClockKind::kNone)
    if (auto started = recording.clock.start(&g_tables, plan); !started) return explained(started);
  name_engine(recording);
  recording.file.header().state = FileState::kRecording;
  return {};
}

/// Threads that began after a dlopen(3) of ours, or by the bare clone(2): none of them had a timer.
void book_unseen_threads(Recording& recording) noexcept {
  if (recording.clock.kind() != ClockKind::kTimer || has_seccomp_filter()) return;
  rusage now{};
  getrusage(RUSAGE_SELF, &now);
  const uint64_t used_ns = to_ns(now.ru_utime) + to_ns(now.ru_stime);
  const uint64_t before_ns = to_ns(recording.started.ru_utime) + to_ns(recording.started.ru_stime);
  auto* process = pool_at<ProcessRecord>(recording.file.pool(), recording.process);
  process->unseen_start_ns = unseen_start_ns(used_ns - before_ns);
}

Result<void> end(Recording& recording) noexcept REQUIRES(g_mutex) {
  book_unseen_threads(recording);
  recording.clock.stop();
  withdraw(&g_tables);
  resolve_all(recording, true);
  book_cpu_time(recording);
  g_last_ledger = account(recording.file.header().ledger);
  return recording.file.close(true);
}

/// A process that ends without pctally_stop() leaves a closed file all the same. A child of the bare clone(2)
/// has its parent's recording. Behind a seccomp filter no system call is made.
__attribute__((destructor)) void at_exit() {
  if (!__atomic_load_n(&g_asked, __ATOMIC_RELAXED) || has_seccomp_filter()) return;
  if (!runs_in_lent_memory()) pctally_stop();
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_API int pctally_start(const pctally_options* given) {
  __atomic_store_n(&g_asked, true, __ATOMIC_RELAXED);
  CallLock locked(g_mutex);
  if (g_recording != nullptr)
    return failed(fail(EBUSY, "a recording is running already: call pctally_stop first").error());
  auto options = checked(given);
  if (!options) return failed(options.error());
  DefaultName name;
  if (options->path == nullptr) options->path = name.text;
  auto file = create_file(*options);
  if (!file) return failed(file.error());
  g_recording = new (g_storage) Recording();
  g_recording->file = std::move(*file);
  g_tables.may_fault = bool(guard_file(g_recording->file));
  auto begun = begin(*g_recording, *options);
  if (begun) begun = g_recording->file.place();
  if (!begun) {
    g_recording->clock.stop();
    withdraw(&g_tables);
    g_recording->file.discard();
    abandon();
    return failed(begun.error());
  }
  g_ever = true;
  return 0;
}

PCTALLY_API int pctally_stop(void) {
  CallLock locked(g_mutex);
  if (g_recording == nullptr) return not_recording();
  auto ended = end(*g_recording);
  abandon();
  return ended ? 0 : failed(ended.error());
}

PCTALLY_API int pctally_count(const void* pc, uint64_t weight) {
  if (weight == 0) return errno = EINVAL, -1;
  bool counted = tick_sessions(reinterpret_cast<uintptr_t>(pc), weight);
  if (__atomic_load_n(&g_tables.current, __ATOMIC_ACQUIRE) == kNoTable)
    return counted ? 0 : (errno = ESRCH, -1);
  tick_by_hand(&g_tables, reinterpret_cast<uintptr_t>(pc), weight);
  return 0;
}

PCTALLY_API int pctally_refresh(void) {
  CallLock locked(g_mutex);
  if (g_recording == nullptr) return not_recording();
  g_recording->clock.adopt_threads();
  if (!refresh(*g_recording)) return failed(fail(ENOMEM, "cannot read /proc/self/maps").error());
  return 0;
}

PCTALLY_API int pctally_ledger(struct pctally_tick_ledger* ledger) {
  CallLock locked(g_mutex);
  if (ledger == nullptr) return failed(fail(EINVAL, "ledger is NULL").error());
  if (!g_ever) return not_recording();
  if (g_recording != nullptr) {
    g_recording->clock.adopt_threads();
    resolve_all(*g_recording, false);
    g_last_ledger = account(g_recording->file.header().ledger);
  }
  *ledger = g_last_ledger;
  return 0;
}

PCTALLY_API int pctally_profil_ledger(const char* system, struct pctally_tick_ledger* ledger) {
  if (system == nullptr || ledger == nullptr)
    return failed(fail(EINVAL, "%s is NULL", system == nullptr ? "system" : "ledger").error());
  SessionsLock lock;
  const Session* session = session_of(system);
  if (session == nullptr) return failed(fail(ESRCH, "no profile of %s was ever on", system).error());
  *ledger = account(session->ledger());
  return 0;
}

PCTALLY_API const char* pctally_engine(void) {
  ClockKind kind;
  return !g_ever && last_session_clock(&kind) ? clock_name(kind) : g_engine;
}

PCTALLY_API const char* pctally_error(void) { return t_error.text; }

PCTALLY_API const char* pctally_version(void) { return PCTALLY_VERSION; }
