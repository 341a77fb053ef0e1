#include "recorder/injected_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "clock/timer_self_test.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"
#include "recorder/program_file.h"

#ifndef PCTALLY_LIBDIR
#define PCTALLY_LIBDIR "/usr/local/lib"
#endif
#ifndef PCTALLY_TRIPLET
#define PCTALLY_TRIPLET "."
#endif

namespace pctally {
namespace {

constexpr char kLibrary[] = "libpctally-preload.so";
constexpr uint64_t kQuietMs = 250;
constexpr uint64_t kQuietShare = 4;      ///< of the time since a process came or a tick was put aside
constexpr uint64_t kLookNs = 100000000;  ///< at least this long between two looks for processes not entered,
constexpr uint64_t kLookShare = 50;      ///< and this many times as long as the last one took
constexpr unsigned kMeetings = 2;  ///< the first may fall between a process's exec and our constructor in it

std::string own_directory() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string full(path, length > 0 ? static_cast<size_t>(length) : 0);
  size_t slash = full.rfind('/');
  return slash == std::string::npos ? "." : full.substr(0, slash);
}

std::vector<std::string> library_places() {
  if (const char* chosen = secure_getenv(kPreloadVariable)) return {chosen};
  std::string libraries =
      own_directory() + "/../lib/";  // of a build tree, or of an installation moved as a whole
  return {libraries + kLibrary, libraries + PCTALLY_TRIPLET + "/pctally/" + kLibrary,
          libraries + "pctally/" + kLibrary, std::string(PCTALLY_LIBDIR) + "/pctally/" + kLibrary};
}

std::string tick_blindness(uint64_t tick_ns) {
  std::string milliseconds = std::to_string(tick_ns / 1000000);
  return "what a program does in step with the kernel's " + milliseconds +
         " ms tick, which its ticks fall on; ";
}

std::string preload_list(const std::string& library) {
  const char* given = getenv("LD_PRELOAD");
  return given == nullptr || *given == '\0' ? library : library + ":" + given;
}

std::string record_comm(const ProcessRecord& record) {
  return {record.comm, strnlen(record.comm, sizeof record.comm)};
}

bool maps_library(pid_t pid) {
  bool found = false;
  TextWatch watch(pid);
  watch.visit([&](const ExecutableMapping& mapping) {
    found = found || mapping.object.path.find(kLibrary) != std::string_view::npos;
  });
  return found;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

Result<std::string> find_preload_library() {
  std::string tried;
  for (const std::string& place : library_places()) {
    if (access(place.c_str(), R_OK) != 0) {
      tried += (tried.empty() ? "" : ", ") + place;
      continue;
    }
    std::string full = absolute_path(place);
    if (full.find_first_of(" :\n\t") != std::string::npos)
      return fail(
          EINVAL,
          "%s: LD_PRELOAD cannot name a path with a blank or colon; put a copy elsewhere and name it in %s",
          full.c_str(), kPreloadVariable);
    return full;
  }
  return fail(ENOENT, "%s not found (tried %s); name it in %s", kLibrary, tried.c_str(), kPreloadVariable);
}

Result<void> TimerEngine::start(ProfileFile* file, const Target& target, Environment* environment) {
  if (target.kind != Target::Kind::kCommand) return fail(ENOTSUP, "only programs started by it");
  auto library = find_preload_library();
  if (!library) return std::unexpected(library.error());
  if (kind_ != ClockKind::kTrap)
    if (auto fires = test_cpu_timer(); !fires) return fires;
  file_ = file;
  target_ = target.processes[0];
  cpus_ = static_cast<uint64_t>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF)));
  changed_ns_ = monotonic_ns();
  next_look_ns_ = changed_ns_ + kLookNs;
  // A timer's tick in kernel mode is counted at the instruction that entered it; the trap has none.
  file->header().kernel_observed = kind_ != ClockKind::kTrap;
  file->header().clock_tick_ns = tick_grid_ns(kind_);
  environment->push_back("LD_PRELOAD=" + preload_list(*library));
  environment->push_back(std::string(kChildrenVariable) + (settings_.children ? "=1" : "=0"));
  return {};
}

void TimerEngine::settle(bool final) {
  DeferredTick deferred;
  for (auto& [unit, process] : known_) process.fresh = false;
  while (take_deferred(file_, &state_, final, &deferred)) {
    auto [found, added] = known_.try_emplace(deferred.process);
    if (added && pool_holds(file_->pool(), deferred.process, sizeof(ProcessRecord) / kUnitBytes))
      found->second.pid = pool_at<ProcessRecord>(file_->pool(), deferred.process)->pid;
    settle_tick(file_, &found->second, deferred);
  }
}

/// The library registers each program image under its name; an image of another name may have been executed
/// without it.
bool TimerEngine::has_entered(pid_t pid) const {
  Pool pool = file_->pool();
  std::string comm = comm_of(pid);
  uint32_t unit = __atomic_load_n(&file_->header().processes, __ATOMIC_ACQUIRE);
  while (pool_holds(pool, unit, sizeof(ProcessRecord) / kUnitBytes)) {
    const auto* record = pool_at<ProcessRecord>(pool, unit);
    if (record->pid == pid)
      return comm == record_comm(*record) || record->engine[0] == '\0' || maps_library(pid);
    unit = record->next;
  }
  return false;
}

void TimerEngine::name_stranger(pid_t pid) {
  std::string process = "/proc/" + std::to_string(pid);
  uint32_t unit = add_process(*file_, pid, 0, comm_of(pid), "");
  if (unit == 0) return;
  ProcessNote obstacle = injection_obstacle(process + "/exe");
  pool_at<ProcessRecord>(file_->pool(), unit)->note =
      obstacle == ProcessNote::kNone ? ProcessNote::kNotEntered : obstacle;
}

/// Processes of the tree that the library is not in, each named once with the reason.
void TimerEngine::look_for_strangers() {
  uint64_t now = monotonic_ns();
  if (now < next_look_ns_ || !settings_.children) return;
  for (pid_t pid : process_tree(target_))
    if (!has_entered(pid) && ++strangers_[pid] == kMeetings) name_stranger(pid);
  uint64_t end = monotonic_ns();
  next_look_ns_ = end + std::max(kLookNs, kLookShare * (end - now));
}

/// A process whose clock did not work has taken another, and written its name into its record.
void TimerEngine::look_at_clocks() {
  Pool pool = file_->pool();
  uint32_t unit = __atomic_load_n(&file_->header().processes, __ATOMIC_ACQUIRE);
  while (pool_holds(pool, unit, sizeof(ProcessRecord) / kUnitBytes)) {
    const auto* record = pool_at<ProcessRecord>(pool, unit);
    ClockKind kind;
    if (std::string engine(record->engine, strnlen(record->engine, sizeof record->engine));
        clock_of(engine.c_str(), &kind) && tick_grid_ns(kind) != 0)
      file_->header().clock_tick_ns = tick_grid_ns(kind);
    unit = record->next;
  }
}

void TimerEngine::look_for_silence() {
  uint64_t now = monotonic_ns();
  if (now < next_pulse_ns_) return;
  heartbeat_.look(file_);
  next_pulse_ns_ = now + std::max(kLookNs, kLookShare * (monotonic_ns() - now));
}

/// Ticks put aside are settled while their process lives, and before their ring is full: soon where such may
/// come. Waking up is most of what the recorder costs, so the less often the longer nothing came.
void TimerEngine::choose_interval() {
  uint64_t now = monotonic_ns();
  const DeferredRing* ring = file_->deferred();
  uint64_t seen = uint64_t{__atomic_load_n(&file_->header().process_count, __ATOMIC_RELAXED)} << 32;
  if (ring != nullptr) seen += __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED);
  if (seen != seen_) changed_ns_ = now;
  seen_ = seen;
  uint64_t ticks_ns = std::max(file_->header().period_ns, tick_grid_ns(kind_));
  uint64_t half_full_ms = kDeferredSlots / 2 * ticks_ns / cpus_ / 1000000;
  uint64_t quiet_ms = std::min({(now - changed_ns_) / kQuietShare / 1000000, kQuietMs, half_full_ms});
  interval_ms_ = std::max(kBusyMs, static_cast<int>(quiet_ms));
}

void TimerEngine::drain() {
  file_->make_room(0);
  settle(false);
  choose_interval();
  look_for_strangers();
  look_for_silence();
  file_->beat();
}

void TimerEngine::stop() {
  settle(true);
  look_at_clocks();
  file_->beat();
}

std::string TimerEngine::blind_spots() const {
  std::string blind = kind_ == ClockKind::kTrap
                          ? "kernel mode (its time is stated as unsampled); half a period of each thread; "
                          : tick_blindness(kernel_tick_ns());
  if (kind_ == ClockKind::kThreadTimer) blind += "threads that live for a few milliseconds; ";
  return blind +
         "code that blocks signals; programs that are static, setuid, or of another C library or word size";
}

}  // namespace pctally
