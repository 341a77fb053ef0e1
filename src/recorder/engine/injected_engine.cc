#include "recorder/engine/injected_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#include "base/sanitizer.h"
#include "base/text_field.h"
#include "base/time_ns.h"
#include "clock/tick_path.h"
#include "histfile/chain.h"
#include "histfile/injection.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"
#include "recorder/engine/timer_probe.h"
#include "tick/tick.h"

#ifndef PCTALLY_LIBDIR
#define PCTALLY_LIBDIR "/usr/local/lib"
#endif
#ifndef PCTALLY_TRIPLET
#define PCTALLY_TRIPLET "."
#endif

namespace pctally {
namespace {

constexpr uint64_t kQuietMs = 250;
constexpr uint64_t kQuietShare = 4;       ///< of the time since a process came or a tick was put aside
constexpr uint64_t kPulseNs = 100000000;  ///< at least this long between two checks for silent processes, and
constexpr uint64_t kSearchNs = 10000000;  ///< two searches for processes not entered, which may end soon,
constexpr uint64_t kSearchShare = 50;     ///< and this many times the CPU time that the last took
constexpr size_t kMostKnown = 1024;       ///< processes whose mappings are kept,
constexpr size_t kMostRegions = 1 << 20;  ///< and regions of all of them
constexpr uint64_t kMostReadingNs = 100000000;  ///< of one turn, spent on reading mappings

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
  return {libraries + kPreloadLibrary, libraries + PCTALLY_TRIPLET + "/pctally/" + kPreloadLibrary,
          libraries + "pctally/" + kPreloadLibrary,
          std::string(PCTALLY_LIBDIR) + "/pctally/" + kPreloadLibrary};
}

std::string tick_blindness(uint64_t tick_ns) {
  std::string milliseconds = std::to_string(tick_ns / 1000000);
  return "programs in step with the " + milliseconds + " ms tick; ";
}

std::string preload_list(const std::string& library) {
  const char* given = getenv("LD_PRELOAD");
  return given == nullptr || *given == '\0' ? library : library + ":" + given;
}

/// AddressSanitizer does not start a program in which another library comes before its own, without this
/// option. Programs that the command executes inherit it.
std::string sanitizer_options() {
  const char* given = getenv("ASAN_OPTIONS");
  return std::string(given == nullptr ? "" : given) + kSanitizerOption;
}

}  // namespace

std::string absolute_path(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr) return resolved;
  const size_t slash = path.rfind('/');  // it has its name only later: its directory is there
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (realpath(directory.c_str(), resolved) == nullptr) return path;
  return std::string(resolved) + "/" + path.substr(slash + 1);
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
  return fail(ENOENT, "%s not found (tried %s); name it in %s", kPreloadLibrary, tried.c_str(),
              kPreloadVariable);
}

Result<void> TimerEngine::start(ProfileFile* file, const Target& target, Environment* environment) {
  if (target.kind != Target::Kind::kCommand) return fail(ENOTSUP, "only programs started by it");
  auto library = find_preload_library();
  if (!library) return std::unexpected(library.error());
  if (kind_ != ClockKind::kTrap)
    if (auto fires = probe_cpu_timer(); !fires) return explained(fires);
  file_ = file;
  if (!file->expect_programs())
    return fail(file->no_room_code(), "no room in the profile for ticks that programs put aside");
  if (settings_.scope)
    if (auto opened = open_paths(); !opened) return opened;
  unknown_ = UnknownCode(file);
  target_ = target.processes[0];
  trusted_.emplace(target_);
  not_entered_.emplace(file, target_);
  cpus_ = static_cast<uint64_t>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF)));
  changed_ns_ = monotonic_ns();
  next_search_ns_ = changed_ns_ + kSearchNs;
  // A timer's tick in kernel mode is counted at the instruction that entered it; the trap has none.
  file->header().kernel_observed = kind_ != ClockKind::kTrap;
  file->header().clock_tick_ns = tick_grid_ns(kind_);
  environment->push_back("LD_PRELOAD=" + preload_list(*library));
  environment->push_back("ASAN_OPTIONS=" + sanitizer_options());
  if (ProcStatus own; read_proc_status(0, &own) && own.filters != 0)
    environment->push_back(std::string(kFiltersVariable) + "=" + std::to_string(own.filters));
  environment->push_back(std::string(kChildrenVariable) + (settings_.children ? "=1" : "=0"));
  return {};
}

/// The process whose record a tick names, null if it is none that may be read. A record may name another
/// process than before, and ticks ever new ones: what is known of them is then forgotten, and read again.
KnownProcess* TimerEngine::known(uint32_t unit) {
  const Pool pool = file_->pool();
  if (!pool_holds(pool, unit, sizeof(ProcessRecord) / kUnitBytes)) return nullptr;
  const auto* record = pool_at<ProcessRecord>(pool, unit);
  const pid_t claimed = __atomic_load_n(&record->pid, __ATOMIC_RELAXED);
  if (known_.size() >= kMostKnown) known_.clear(), histories_.clear(), claims_.clear();
  auto [claim, is_new] = claims_.try_emplace(unit);
  if (is_new || claim->second.claimed != claimed)
    claim->second = {claimed, not_entered_->find_process(unit, *record)};
  const pid_t pid = claim->second.pid;
  if (pid == 0 || !trusted_->holds(pid)) return nullptr;
  auto [found, added] = known_.try_emplace(unit);
  if (found->second.pid != pid) {
    found->second = {};
    found->second.pid = pid;
  }
  return &found->second;
}

/// What was read or not found before the ticks were taken may be otherwise now.
void TimerEngine::begin_turn() {
  trusted_->refresh();
  for (auto& [unit, process] : known_) process.fresh = false;
  std::erase_if(claims_, [](const auto& claim) { return claim.second.pid == 0; });
}

/// Bounded: a program may put ticks aside as fast as they are taken.
void TimerEngine::take_all(bool final, std::vector<DeferredTick>* ticks) {
  for (DeferredTick tick; ticks->size() < kDeferredSlots && take_deferred(file_, &state_, final, &tick);)
    ticks->push_back(tick);
}

void TimerEngine::read_mappings(const std::vector<DeferredTick>& ticks, uint64_t deadline_ns) {
  const auto read = [&](uint32_t unit) {
    KnownProcess* process = known(unit);
    if (process == nullptr || process->pid == 0) return;
    process->readable = monotonic_ns() < deadline_ns;
    if (process->readable && histories_[unit].read(process->pid)) process->space.clear();
  };
  for (const DeferredTick& tick : ticks) read(tick.process);
  std::vector<uint32_t> waiting;  // a pause was not over when a library had gone
  for (const auto& [unit, history] : histories_)
    if (history.waits_for_reading()) waiting.push_back(unit);
  for (const uint32_t unit : waiting) read(unit);
}

/// Those among `ticks`; `first` is the number of the first of these in the turn.
void TimerEngine::note_unloads(const std::vector<DeferredTick>& ticks, size_t first) {
  for (size_t i = 0; i < ticks.size(); ++i) {
    const DeferredTick& mark = ticks[i];
    if (is_unload(mark) && known(mark.process) != nullptr)
      unloads_[mark.process].push_back({mark.pc, mark.end, first + i});
  }
}

bool TimerEngine::was_unloaded(uint32_t process, uint64_t address, size_t tick) const {
  const auto unloads = unloads_.find(process);
  return unloads != unloads_.end() && std::ranges::any_of(unloads->second, [&](const Unload& unload) {
           return tick < unload.number && unload.start <= address && address < unload.end;
         });
}

/// Where libraries take each other's places, whose a tick is that was put aside is not known.
void TimerEngine::resolve_late(const DeferredTick& tick, KnownProcess* process, bool was_unloaded) {
  if (was_unloaded || (process->pid != 0 && histories_[tick.process].is_doubtful(tick.pc))) {
    uint64_t place = 0;
    const RegionTable& table = unknown_.table(kSinceUnmapped, &place);
    ::pctally::resolve(table, place, tick.weight);
    return;
  }
  resolve_tick(file_, process, tick);
}

/// A library that is unloaded while mappings are read has its mark among the ticks that are taken after that,
/// which wait for the next turn. `has_addresses`: paths have been taken that are placed by the mappings.
void TimerEngine::resolve_turn(bool final, bool has_addresses) {
  std::vector<DeferredTick> ticks = std::exchange(waiting_, {});
  take_all(final, &ticks);
  unloads_.clear();
  const auto waits = [](const auto& history) { return history.second.waits_for_reading(); };
  if (ticks.empty() && !has_addresses && std::ranges::none_of(histories_, waits)) return;
  begin_turn();
  size_t regions = 0;
  for (auto& [unit, process] : known_) {
    regions += process.space.size();
  }
  if (regions >= kMostRegions) known_.clear();
  note_unloads(ticks, 0);
  for (const auto& [unit, unloads] : unloads_)
    for (const Unload& unload : unloads) histories_[unit].note_unload(unload.start, unload.end);
  const uint64_t deadline = monotonic_ns() + kMostReadingNs;
  read_mappings(ticks, deadline);
  take_all(final, &waiting_);
  note_unloads(waiting_, ticks.size());
  KnownProcess nobody;
  nobody.readable = false;
  for (size_t i = 0; i < ticks.size(); ++i) {
    const DeferredTick& tick = ticks[i];
    if (is_unload(tick)) continue;
    KnownProcess* process = known(tick.process);
    if (process == nullptr) process = &nobody;
    if (process != &nobody) process->readable = monotonic_ns() < deadline;
    resolve_late(tick, process, was_unloaded(tick.process, tick.pc, i));
  }
}

/// At the end also what waits; a program that puts ticks aside all the time does not keep us.
void TimerEngine::resolve(bool final, bool has_addresses) {
  constexpr int kLastTurns = 3;
  resolve_turn(final, has_addresses);
  for (int turn = 1; final && turn < kLastTurns && !waiting_.empty(); ++turn)
    resolve_turn(final, has_addresses);
}

Result<void> TimerEngine::open_paths() {
  constexpr uint32_t kLeastSlots = 1024, kSlotsPerCpu = 256, kMostSlots = 16384;
  const auto cpus = static_cast<uint32_t>(std::max(1l, sysconf(_SC_NPROCESSORS_CONF)));
  if (settings_.paths && !can_find_own_tables())
    return fail(ENOSYS, "call paths need glibc 2.35; leave out -g, or use -e ring");
  const uint32_t wanted = std::clamp(cpus * kSlotsPerCpu, kLeastSlots, kMostSlots);
  if (auto added = add_path_slots(file_, std::bit_ceil(wanted)); !added) return added;
  paths_.emplace(file_);
  return {};
}

/// Resolves code that the process did not know when it began: it was loaded later, or written by a JIT.
uint64_t TimerEngine::place_of(uint32_t process, uint64_t address) {
  KnownProcess* known_process = known(process);
  // Paths are not in the order of unloads: all of a turn with one may be of before it.
  if (known_process == nullptr || was_unloaded(process, address, 0) ||
      histories_[process].is_doubtful(address))
    return 0;
  return resolve_place(file_, known_process, address);
}

/// Paths are taken first: the mappings that they are placed by are read after that, and so are the marks of
/// libraries that have gone by then.
void TimerEngine::drain_ticks(bool final) {
  const bool has_addresses = paths_ && paths_->take();
  resolve(final, has_addresses);
  if (paths_)
    paths_->count([this](uint32_t process, uint64_t address) { return place_of(process, address); });
}

void TimerEngine::find_not_entered() {
  if (monotonic_ns() < next_search_ns_ || !settings_.children) return;
  const uint64_t used_ns = thread_cpu_ns();
  not_entered_->poll();
  next_search_ns_ = monotonic_ns() + std::max(kSearchNs, kSearchShare * (thread_cpu_ns() - used_ns));
}

/// A process whose clock did not work has taken another, and written its name into its record.
void TimerEngine::check_clocks() {
  for_each_process(*file_, kMostProcessRecords, [&](const ProcessRecord& record, uint32_t) {
    ClockKind kind;
    if (clock_of(field_text(record.engine).c_str(), &kind) && tick_grid_ns(kind) != 0)
      file_->header().clock_tick_ns = tick_grid_ns(kind);
    return false;
  });
}

void TimerEngine::check_silence() {
  const uint64_t now = monotonic_ns();
  if (now < next_pulse_ns_) return;
  const uint64_t used_ns = thread_cpu_ns();
  trusted_->refresh();
  heartbeat_.poll(file_, *trusted_, &*not_entered_);
  next_pulse_ns_ = now + std::max(kPulseNs, kSearchShare * (thread_cpu_ns() - used_ns));
}

/// Ticks put aside are resolved while their process lives, and before their ring is full: soon where such may
/// come. Waking up is most of what the recorder costs, so the less often the longer nothing came.
void TimerEngine::choose_interval() {
  uint64_t now = monotonic_ns();
  const DeferredRing* ring = file_->deferred();
  uint64_t seen = uint64_t{__atomic_load_n(&file_->header().process_count, __ATOMIC_RELAXED)} << 32;
  if (ring != nullptr) seen += __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED);
  if (seen != seen_) changed_ns_ = now;
  seen_ = seen;
  uint64_t ticks_ns = std::max(settings_.period, tick_grid_ns(kind_));
  uint64_t half_full_ms = kDeferredSlots / 2 * ticks_ns / cpus_ / 1000000;
  if (paths_) half_full_ms = std::min(half_full_ms, paths_->room() * ticks_ns / cpus_ / 1000000);
  uint64_t quiet_ms = std::min({(now - changed_ns_) / kQuietShare / 1000000, kQuietMs, half_full_ms});
  interval_ms_ = std::max(kBusyMs, static_cast<int>(quiet_ms));
}

void TimerEngine::drain() {
  file_->make_room(0);
  if (settings_.files != nullptr) settings_.files->hold_objects(*file_);
  drain_ticks(false);
  choose_interval();
  find_not_entered();
  check_silence();
  file_->beat();
}

void TimerEngine::stop() {
  if (settings_.children) not_entered_->end();
  drain_ticks(true);
  check_clocks();
  FileHeader& header = file_->header();
  header.starts_in_step = kind_ == ClockKind::kTrap ? header.process_count : 0;
  file_->beat();
}

/// A process just forked has no row yet, and one that the library cannot enter never gets one; both have
/// the command's environment.
std::vector<pid_t> TimerEngine::living() const {
  if (!settings_.children) return {};
  return processes_given(std::string(kIdVariable) + "=" + file_->recording_id().text, target_);
}

std::string TimerEngine::blind_spots() const {
  std::string blind = kind_ == ClockKind::kTrap ? "kernel mode; half a period per thread; "
                                                : tick_blindness(kernel_tick_ns());
  return blind + "code that blocks signals; static, setuid, musl, 32-bit programs";
}

}  // namespace pctally
