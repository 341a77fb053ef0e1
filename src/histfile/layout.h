// The bytes of a profile file, version 1, and 2 where it holds call paths or scopes. docs/profile-file.md and
// pctally-file(5) are the prose of this header.
//
// Numbers are in the byte order of the machine that ran (a tick has no time to turn them round); byte_order
// tells which, and a machine of the other order refuses to read the file. A header page, then one pool of
// 64-byte units that everything else is taken from: object, segment and process records, strings,
// directories, blocks and leaves. Indices count units; 0 means none.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "tick/context_tree.h"
#include "tick/deferred.h"
#include "tick/ledger.h"
#include "tick/pool.h"

namespace pctally {

inline constexpr char kMagic[8] = {'p', 'c', 't', 'a', 'l', 'l', 'y', '\n'};
inline constexpr uint32_t kLayoutVersion = 1;
inline constexpr uint32_t kPathsLayoutVersion = 2;  ///< of files with call paths or scopes
constexpr bool is_layout_version(uint32_t version) {
  return version == kLayoutVersion || version == kPathsLayoutVersion;
}
inline constexpr uint64_t kHeaderBytes = 4096;             ///< unit 0 starts here
inline constexpr uint64_t kInitialBytes = 2 << 20;         ///< preallocated before the first tick
inline constexpr uint64_t kGrowthBytes = 1 << 20;          ///< the recorder's step when the pool runs low
inline constexpr uint64_t kLargestBytes = 64 << 20;        ///< of a recording
inline constexpr uint64_t kLargestMergedBytes = 1u << 30;  ///< a PathPlace reaches no segment behind it
inline constexpr uint32_t kMostProcesses = 8192;  ///< more are counted together in the last record; engines
                                                  ///< outside add those that have ended up by program before
inline constexpr uint64_t kDeferredSlots = 1024;

/// Where a unit lies in the file.
constexpr uint64_t unit_offset(uint64_t unit) noexcept { return kHeaderBytes + kUnitBytes * unit; }

enum class FileState : uint32_t {
  kPreparing = 0,  ///< no tick has been counted
  kRecording = 1,  ///< live; or its recorder died: then `heartbeat_ns` tells until when it is complete
  kClosed = 2,     ///< ended in order
};

enum class ObjectKind : uint32_t {
  kFile = 0,     ///< an ELF file; cells are keyed by file offset
  kVdso = 1,     ///< the kernel's vdso; keyed by the distance from its start
  kKernel = 2,   ///< kernel text; keyed by address
  kPrivate = 3,  ///< anonymous executable memory of one process (a JIT's); keyed by address
  kStart = 4,    ///< no text: what processes used before the engine was in them, all at position 0
};

/// An executable file, or something like one. Two units.
struct ObjectRecord {
  uint32_t next;      ///< next object, 0 at the end
  uint32_t segments;  ///< first SegmentRecord
  uint32_t path;      ///< StringRecord
  ObjectKind kind;
  uint64_t identity;  ///< hash of path, build id and owner: finds candidates, which are then compared
  uint64_t device;
  uint64_t inode;
  int32_t owner;  ///< pid for kPrivate, else 0
  uint32_t build_id_bytes;
  uint8_t build_id[32];
  uint64_t file_bytes;    ///< kFile without a build id, where the recorder saw the file: its size,
  uint64_t time_unix_ns;  ///< and when it was last changed; kPrivate: when the process started; else 0
  uint8_t boot_id[16];    ///< of merged files: the boot whose addresses these are; 0: the file's
  uint8_t unused[16];
};
static_assert(sizeof(ObjectRecord) == 128 && offsetof(ObjectRecord, build_id) == 48);
static_assert(offsetof(ObjectRecord, file_bytes) == 80 && offsetof(ObjectRecord, boot_id) == 96);

/// A range of an object with a directory of cells. One unit.
struct SegmentRecord {
  uint32_t next;       ///< next segment of the object, 0 at the end
  uint32_t directory;  ///< first unit of its directory
  uint64_t start;      ///< first byte covered (what it counts depends on the object's kind)
  uint64_t bytes;
  uint8_t unused[40];
};
static_assert(sizeof(SegmentRecord) == 64 && offsetof(SegmentRecord, start) == 8);

enum class ProcessNote : uint32_t {
  kNone = 0,
  kStatic = 1,         ///< statically linked: injection cannot reach it
  kPrivileged = 2,     ///< setuid, setgid or file capabilities: the kernel keeps observers out
  kForeignLibc = 3,    ///< another C library (musl)
  kWordSize = 4,       ///< another word size or machine
  kNotEntered = 5,     ///< ran without the injected library (cleaned environment, other root)
  kTogether = 6,       ///< stands for all processes beyond kMostProcesses
  kSignalTaken = 7,    ///< observed until it took the signal that ticks come with
  kEnded = 9,          ///< stands for ended processes of one program: see kMostProcesses
  kFiltered = 10,      ///< behind a seccomp filter of its own not all was sampled
  kOtherUser = 11,     ///< another user's since an exec: the recording is not for it
  kDebugged = 12,      ///< a debugger would stop it at every tick
  kEmulated = 13,      ///< valgrind: signals and time are not the program's
  kBehindFilter = 15,  ///< a seccomp filter that came after the recorder's may kill for a timer
  kReadOnlyFile = 16,  ///< the profile file is on a read-only mount where it runs
  kBlocked = 17,       ///< threads of it blocked the signal that ticks come with, and were not sampled
  kTimerless = 18,     ///< no timer or no signal was free for its ticks
  kWithoutLibc = 19,   ///< a Go program: its threads and signals are its own
  kUnseenFork = 14,    ///< the library has not seen it begin (bare clone(2)), and no call of its since
  kReplaced = 8,       ///< took the signal or descriptor of its ticks; something else brings them since
};
inline constexpr ProcessNote kLastNote = ProcessNote::kWithoutLibc;

enum ProcessFlag : uint32_t {
  kProcessObserved = 1,
  kProcessExited = 2,
  kProcessTakenBack = 4,  ///< added for a process that has a row of its own: this one stands for nothing
};

/// A process (for the in-process engines: a program image, so exec starts a new one). Two units.
struct ProcessRecord {
  uint32_t next;
  int32_t pid;
  int32_t parent;
  ProcessNote note;
  uint32_t flags;   ///< ProcessFlag, or-ed
  uint32_t signal;  ///< that brings its ticks, 0 if none does
  uint64_t ticks;
  uint64_t cpu_ns;      ///< CPU time it used, at its exec(3), too, where known; else 0
  uint64_t started_ns;  ///< CLOCK_MONOTONIC
  char comm[16];        ///< not necessarily ended by a zero byte
  char engine[16];
  uint64_t entered_cpu_ns;   ///< engines in the program: CPU time it had used when the engine began
  uint64_t start_ticks;      ///< of `ticks`, those that were counted for it
  uint64_t blocked_ns;       ///< CPU time of threads that had the signal of their ticks blocked
  uint64_t small_stack_ns;   ///< of threads without a timer because their stack has no room for a handler
  uint64_t timerless_ns;     ///< of threads for which there was no timer (RLIMIT_SIGPENDING)
  uint64_t unseen_start_ns;  ///< of threads that no pthread_create(3) of ours has started
};
static_assert(sizeof(ProcessRecord) == 128 && offsetof(ProcessRecord, ticks) == 24);
static_assert(offsetof(ProcessRecord, entered_cpu_ns) == 80 && offsetof(ProcessRecord, blocked_ns) == 96);

enum class ScopeKind : uint32_t {
  kProgram = 0,  ///< the executable file of a process image
  kThread = 1,   ///< threads of one name in one program
  kGroup = 2,    ///< a control group
};

/// Whose ticks they are: the root of a tree of call paths. One unit.
struct ScopeRecord {
  uint32_t next;
  ScopeKind kind;
  uint32_t name;  ///< StringRecord: the path of the program, or of the control group
  uint32_t build_id_bytes;
  uint8_t build_id[32];
  uint64_t device;  ///< kThread: the thread's name in these 16 bytes, not necessarily ended by a zero byte
  uint64_t inode;
};
inline constexpr size_t kMostScopesOfFile = 8192;  ///< readers leave out what follows them
inline constexpr size_t kThreadNameBytes = 16;     ///< in a ScopeRecord, from `device` on
static_assert(sizeof(ScopeRecord) == 64 && offsetof(ScopeRecord, build_id) == 16);

/// Call paths (tick/context_tree.h). Two units.
///
/// The context tree: scope, outermost call site, ..., innermost call site, the function that ran. A path
/// whose outer part is not known has the mark kCut below its scope, and its known part below that.
///
/// The call plane: scope, function, call site. A function's `self` counts the ticks with it on the stack, a
/// call site's those with that call of it on the stack; each once a tick. `folded` of a scope: entries that
/// found no room.
struct PathRecord {
  PathTreeHead context;
  PathTreeHead plane;
  uint64_t no_room;      ///< ticks that not even a scope's node took
  uint64_t prunes;       ///< odd while the context tree is being pruned
  uint64_t pruned;       ///< nodes taken out of the context tree
  uint32_t pruning;      ///< node whose counts are being added to its parent's
  uint32_t stack_bytes;  ///< of a stack that were copied at most, 0 where stacks are read in place
  uint32_t slots;        ///< PathSlotsHead of engines that run in the program, else 0
  uint32_t one_frame;    ///< 1: below a scope is the place of the tick alone; there are no call paths
  uint32_t first_come;   ///< 1: nothing is pruned; what came once the context tree was full is folded
  uint8_t unused[4];
  uint64_t pruned_to;  ///< what that parent has in `folded` once it has them
  uint8_t unused2[24];
};
static_assert(sizeof(PathRecord) == 2 * kUnitBytes && offsetof(PathRecord, no_room) == 48);
static_assert(offsetof(PathRecord, first_come) == 88 && offsetof(PathRecord, pruned_to) == 96);

/// Text of `bytes` bytes, any bytes; followed by the bytes themselves.
struct StringRecord {
  uint32_t bytes;
};
/// With its bytes.
constexpr uint32_t string_units(uint32_t bytes) noexcept {
  return static_cast<uint32_t>((sizeof(StringRecord) + uint64_t{bytes} + kUnitBytes - 1) / kUnitBytes);
}

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint32_t byte_order;  ///< 0x01020304
  uint32_t unit_bytes;
  uint32_t pointer_bytes;
  FileState state;

  PoolHead pool;  ///< offset 32
  uint32_t objects;
  uint32_t processes;
  uint32_t process_count;
  uint32_t command;     ///< StringRecord: the arguments, each ended by a zero byte
  uint32_t deferred;    ///< DeferredRing
  int32_t exit_status;  ///< as of waitpid(2)

  char engine[16];           ///< offset 64
  uint64_t period_asked_ns;  ///< with an `event` a number of events, as the next
  uint64_t period_ns;        ///< the period drawn for this run: one tick stands for this much CPU time
  uint64_t started_unix_ns;  ///< CLOCK_REALTIME, for display only
  uint64_t started_ns;       ///< CLOCK_MONOTONIC
  uint64_t ended_ns;
  uint64_t heartbeat_ns;  ///< the file is complete up to this moment
  uint64_t cpu_user_ns;   ///< CPU time of the whole recording, taken outside the engine; 0 with cpu_known 0
  uint64_t cpu_system_ns;
  uint32_t cpu_known;
  uint32_t kernel_observed;  ///< 1: ticks in kernel mode are counted; 0: they are part of unsampled
  uint64_t throttled;        ///< times the kernel throttled the engine
  uint64_t clock_tick_ns;    ///< granularity the engine's ticks land on, 0 if none (timer: the kernel tick)
  uint8_t boot_id[16];
  char release[64];       ///< uname -r
  char machine[16];       ///< uname -m
  uint32_t ended;         ///< 1: ticks that still arrive are not counted
  uint32_t snapshot;      ///< 1: a copy, taken while the recording went on
  uint32_t machine_cpus;  ///< CPUs sampled whole, for ticks that find the target there: the sum is then
                          ///< subject to chance; 0: the ticks are measured in the target's own CPU time
  char event[24];         ///< what ticks stand for, by perf(1)'s name; empty: CPU time
  int32_t start_owed_us;  ///< CPU time before the engine's first moment, less than a tick and not yet counted
  uint64_t stolen_ns;     ///< CPU time of the whole machine that its host took while the recording ran

  alignas(64) Ledger ledger;  ///< offset 320

  uint8_t recording_id[16];  ///< random: what joins the file by its path has to know it
  uint32_t paths;            ///< PathRecord, 0 if there are no call paths and no scopes
  uint32_t names;            ///< NamesHead (names_layout.h), a unit behind the pool; 0: none
  uint32_t scopes;           ///< first ScopeRecord
  uint32_t runs;             ///< merged files: first RunRecord; else 0
  uint64_t starts_in_step;   ///< threads and processes whose ticks begin a whole period after their start: at
                             ///< the same moments in each; 0 where first ticks are drawn
  uint8_t unused[24];
};
static_assert(offsetof(FileHeader, paths) == 400 && offsetof(FileHeader, scopes) == 408);
static_assert(offsetof(FileHeader, runs) == 412 && offsetof(FileHeader, starts_in_step) == 416);
static_assert(offsetof(FileHeader, pool) == 32 && offsetof(FileHeader, engine) == 64);
static_assert(offsetof(FileHeader, boot_id) == 168 && offsetof(FileHeader, event) == 276);
static_assert(offsetof(FileHeader, start_owed_us) == 300 && offsetof(FileHeader, stolen_ns) == 304);
static_assert(offsetof(FileHeader, ledger) == 320 && offsetof(FileHeader, recording_id) == 384);
static_assert(sizeof(FileHeader) == 448 && sizeof(FileHeader) <= kHeaderBytes);

/// A run whose ticks are in a merged file (decision 013). Eight units.
struct RunRecord {
  uint32_t next;
  uint32_t unused;
  uint64_t measured_ticks;  ///< ticks of its objects of kind kStart
  uint8_t unused_too[48];
  FileHeader header;  ///< of its own file, in ticks of its own period; `command` is the only unit in it
};
static_assert(sizeof(RunRecord) == 8 * kUnitBytes && offsetof(RunRecord, header) == kUnitBytes);

}  // namespace pctally
