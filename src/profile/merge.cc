#include "profile/merge.h"

#include <errno.h>
#include <inttypes.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "profile/positions.h"
#include "profile/runs.h"
#include "profile/tree_sum.h"

namespace pctally {
namespace {

constexpr size_t kFewestPending = 1 << 16;   ///< positions, before they are added up
constexpr uint64_t kLoadedBytesPerByte = 6;  ///< of a file: its copy, what is read from it, the profile
constexpr uint64_t kBytesPerProcess = sizeof(ProfileProcess) + 128;
constexpr uint64_t kBytesPerExecutable = 2 * sizeof(Executable) + 512;

auto identity_of(const Executable& executable) {
  return std::tie(executable.kind, executable.path, executable.build_id, executable.owner, executable.stamp,
                  executable.time_unix_ns, executable.boot_id);
}

auto fields_of(const TickLedger& ledger) {
  return std::tie(ledger.counted, ledger.outside, ledger.full, ledger.lost, ledger.samples,
                  ledger.weight_squares);
}

bool by_start(const ProfileRun& a, const ProfileRun& b) {
  const auto fields = [](const ProfileRun& run) {
    return std::tuple_cat(
        std::tie(run.started_unix_ns, run.recording_id, run.boot_id, run.engine, run.period_ns,
                 run.period_asked_ns, run.duration_ns, run.cpu_user_ns, run.cpu_system_ns, run.stolen_ns,
                 run.throttled, run.command, run.machine, run.release, run.closed, run.snapshot,
                 run.kernel_observed, run.cpu_known, run.clock_tick_ns, run.machine_cpus, run.starts_in_step,
                 run.exit_status, run.measured_ticks),
        fields_of(run.ledger));
  };
  return fields(a) < fields(b);
}

bool by_what_they_are(const ProfileProcess& a, const ProfileProcess& b) {
  const auto fields = [](const ProfileProcess& p) {
    return std::tie(p.pid, p.parent, p.comm, p.engine, p.note, p.sampled_again, p.ticks, p.cpu_ns,
                    p.blocked_ns, p.small_stack_ns, p.timerless_ns, p.unseen_start_ns);
  };
  return fields(a) < fields(b);
}

std::string event_text(const Profile& profile) {
  return profile.counts_cpu_time() ? "CPU time" : profile.event;
}

const char* scope_word(PathScopeKind kind) {
  if (kind == PathScopeKind::kThread) return "thread";
  return kind == PathScopeKind::kGroup ? "control group" : "program";
}

std::string bytes_text(uint64_t bytes) {
  if (bytes % (1 << 10) != 0) return std::to_string(bytes) + " bytes";
  if (bytes % (1 << 30) == 0) return std::to_string(bytes >> 30) + " GiB";
  return bytes % (1 << 20) == 0 ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

}  // namespace

uint64_t memory_of(const Profile& profile) {
  const CallPaths& paths = profile.paths;
  return profile.positions.capacity() * sizeof(WeightedPosition) +
         (paths.context.capacity() + paths.plane.capacity()) * sizeof(PathTreeNode) +
         profile.processes.size() * kBytesPerProcess +
         (profile.executables.size() + paths.scopes.size()) * kBytesPerExecutable +
         profile.runs.size() * 2 * sizeof(ProfileRun);
}

class Merger::Sums {
 public:
  void add(Profile profile);
  Profile take();

  [[nodiscard]] const Profile& whole() const { return whole_; }
  [[nodiscard]] uint64_t memory() const;
  void add_runs(std::vector<ProfileRun> runs);
  /// The kind of the scopes entered first.
  [[nodiscard]] std::optional<PathScopeKind> scope_kind() const {
    return scopes_.empty() ? std::nullopt : std::optional(scopes_.begin()->first.kind);
  }
  void set_ledger(const TickLedger& ledger) { whole_.ledger = ledger; }

 private:
  struct ByIdentity {
    bool operator()(const Executable& a, const Executable& b) const {
      return identity_of(a) < identity_of(b);
    }
  };

  std::vector<uint32_t> enter_executables(const Profile& profile);
  std::vector<uint32_t> enter_scopes(const Profile& profile);
  void add_positions(const std::vector<WeightedPosition>& positions, const std::vector<uint32_t>& place,
                     uint64_t weight);
  void scale(uint64_t factor);
  std::vector<uint32_t> order_executables();
  std::vector<uint32_t> order_scopes();

  Profile whole_;  ///< in ticks of period_, as far as it has come
  uint64_t period_ = 0;
  size_t added_up_ = 0;  ///< positions left by the last add_up()
  std::map<Executable, uint32_t, ByIdentity> executables_;
  std::map<PathScope, uint32_t> scopes_;
  TreeSum context_, plane_;
};

std::vector<uint32_t> Merger::Sums::enter_executables(const Profile& profile) {
  std::vector<uint32_t> place;
  for (Executable executable : profile.executables) {
    const bool known_boot = std::ranges::any_of(profile.boot_id, [](uint8_t byte) { return byte != 0; });
    if (is_of_one_boot(executable) && executable.boot_id.empty() && known_boot)
      executable.boot_id = profile.boot_id;
    const auto next = static_cast<uint32_t>(executables_.size());
    place.push_back(executables_.try_emplace(std::move(executable), next).first->second);
  }
  return place;
}

std::vector<uint32_t> Merger::Sums::enter_scopes(const Profile& profile) {
  std::vector<uint32_t> place;
  for (const PathScope& scope : profile.paths.scopes)
    place.push_back(scopes_.try_emplace(scope, static_cast<uint32_t>(scopes_.size())).first->second);
  return place;
}

void Merger::Sums::add_positions(const std::vector<WeightedPosition>& positions,
                                 const std::vector<uint32_t>& place, uint64_t weight) {
  for (const WeightedPosition& position : positions)
    whole_.positions.push_back(
        {place[position.executable], position.position, scaled(position.ticks, weight)});
  if (whole_.positions.size() < 2 * added_up_ + kFewestPending) return;
  add_up(&whole_.positions);
  added_up_ = whole_.positions.size();
}

void Merger::Sums::scale(uint64_t factor) {
  for (WeightedPosition& position : whole_.positions) position.ticks = scaled(position.ticks, factor);
  for (ProfileProcess& process : whole_.processes) process.ticks = scaled(process.ticks, factor);
  whole_.paths.no_room = scaled(whole_.paths.no_room, factor);
  context_.scale(factor);
  plane_.scale(factor);
}

void Merger::Sums::add_runs(std::vector<ProfileRun> runs) {
  for (ProfileRun& run : runs) whole_.runs.push_back(std::move(run));
}

void Merger::Sums::add(Profile profile) {
  const uint64_t period = common_period(whole_.runs);
  if (period_ != 0 && period != period_) scale(period_ / period);
  period_ = period;
  const uint64_t weight = profile.period_ns / period;
  const std::vector<uint32_t> place = enter_executables(profile);
  add_positions(profile.positions, place, weight);
  for (ProfileProcess& process : profile.processes) {
    process.ticks = scaled(process.ticks, weight);
    whole_.processes.push_back(std::move(process));
  }
  CallPaths& paths = whole_.paths;
  if (!profile.paths.has_scopes()) return;
  const std::vector<uint32_t> scope = enter_scopes(profile);
  paths.recorded = profile.paths.recorded;
  paths.one_frame = profile.paths.one_frame;
  paths.ends_known = paths.ends_known && profile.paths.ends_known;
  paths.stackless = paths.stackless || profile.paths.stackless;
  paths.first_come = paths.first_come || profile.paths.first_come;
  paths.no_room = scaled(paths.no_room + scaled(profile.paths.no_room, weight), 1);
  paths.pruned += profile.paths.pruned;
  paths.stack_bytes = std::max(paths.stack_bytes, profile.paths.stack_bytes);
  context_.add(profile.paths.context, place, scope, weight);
  plane_.add(profile.paths.plane, place, scope, weight);
}

/// Where each executable went, by the number it had.
std::vector<uint32_t> Merger::Sums::order_executables() {
  std::vector<uint32_t> place(executables_.size());
  for (const auto& [executable, number] : executables_) {
    place[number] = static_cast<uint32_t>(whole_.executables.size());
    whole_.executables.push_back(executable);
  }
  executables_.clear();
  return place;
}

std::vector<uint32_t> Merger::Sums::order_scopes() {
  std::vector<uint32_t> place(scopes_.size());
  for (const auto& [scope, number] : scopes_) {
    place[number] = static_cast<uint32_t>(whole_.paths.scopes.size());
    whole_.paths.scopes.push_back(scope);
  }
  return place;
}

Profile Merger::Sums::take() {
  const std::vector<uint32_t> place = order_executables(), scope = order_scopes();
  for (WeightedPosition& position : whole_.positions) position.executable = place[position.executable];
  add_up(&whole_.positions);
  std::sort(whole_.processes.begin(), whole_.processes.end(), by_what_they_are);
  std::sort(whole_.runs.begin(), whole_.runs.end(), by_start);
  whole_.paths.context = context_.take(place, scope);
  whole_.paths.plane = plane_.take(place, scope);
  sum_up_runs(&whole_);
  return std::move(whole_);
}

uint64_t Merger::Sums::memory() const {
  return whole_.positions.capacity() * sizeof(WeightedPosition) + context_.memory() + plane_.memory() +
         whole_.processes.size() * kBytesPerProcess + executables_.size() * kBytesPerExecutable +
         scopes_.size() * kBytesPerExecutable + whole_.runs.size() * 2 * sizeof(ProfileRun);
}

Merger::Merger(uint64_t most_bytes, const char* remedy)
    : most_bytes_(most_bytes), remedy_(remedy), sums_(std::make_unique<Sums>()) {}
Merger::~Merger() = default;

uint64_t Merger::memory() const { return sums_->memory() + held_by_caller_; }

Result<void> Merger::check_room(uint64_t file_bytes, const std::string& name) const {
  if (memory() + kLoadedBytesPerByte * file_bytes <= most_bytes_) return {};
  return fail(ENOMEM, "the sum takes more than %s from %s on; %s", bytes_text(most_bytes_).c_str(),
              name.c_str(), remedy_);
}

Result<void> Merger::check(const Profile& profile, const std::string& name) const {
  const bool known =
      std::ranges::all_of(profile.runs, [](const ProfileRun& run) { return run.period_ns != 0; });
  if (profile.period_ns == 0 || !known)  // a damaged file may say so of its runs and not of itself
    return fail(EINVAL, "%s does not say what a tick stands for: it cannot be added", name.c_str());
  if (sums_->whole().runs.empty()) return {};
  const Profile& whole = sums_->whole();
  const std::string& event = whole.runs.front().event;
  if (event != profile.event)
    return fail(EINVAL, "%s counts %s and %s %s: these cannot be added", first_name_.c_str(),
                event.empty() ? "CPU time" : event.c_str(), name.c_str(), event_text(profile).c_str());
  const std::string unit = unit_or_count(whole.runs.front().event_unit),
                    other = unit_or_count(profile.event_unit);
  if (unit != other)
    return fail(EINVAL, "%s has %s in %s and %s in %s: these cannot be added", first_name_.c_str(),
                event.c_str(), unit.c_str(), name.c_str(), other.c_str());
  if (whole.paths.recorded != profile.paths.recorded)
    return fail(EINVAL, "%s has call paths and %s has none; record all with -g, or merge with --no-paths",
                (whole.paths.recorded ? first_name_ : name).c_str(),
                (whole.paths.recorded ? name : first_name_).c_str());
  return check_scopes(profile, name);
}

/// A scope of a thread says nothing of groups.
Result<void> Merger::check_scopes(const Profile& profile, const std::string& name) const {
  constexpr char kWayOut[] = "record all with one --scope, or merge with --no-paths";
  const bool has_scopes = sums_->whole().paths.has_scopes();
  if (has_scopes != profile.paths.has_scopes())
    return fail(EINVAL, "%s has ticks by program and %s has none; %s",
                (has_scopes ? first_name_ : name).c_str(), (has_scopes ? name : first_name_).c_str(),
                kWayOut);
  const std::optional<PathScopeKind> kind = sums_->scope_kind();
  for (const PathScope& scope : profile.paths.scopes)
    if (kind && scope.kind != *kind)
      return fail(EINVAL, "%s is by %s and %s by %s; %s", first_name_.c_str(), scope_word(*kind),
                  name.c_str(), scope_word(scope.kind), kWayOut);
  return {};
}

Result<void> Merger::add_runs(const Profile& profile, const std::string& name) {
  if (Result<void> added = recordings_.add(profile, name); !added) return added;
  sums_->add_runs(runs_of(profile));
  const std::span<const ProfileRun> all = sums_->whole().runs;
  const std::optional<TickLedger> ledger = sum_of_ledgers(all, common_period(all));
  if (!ledger)
    return fail(EOVERFLOW, "with %s the sum is more than a profile holds (834 days of CPU time)",
                name.c_str());
  sums_->set_ledger(*ledger);
  return {};
}

Result<void> Merger::add(Profile profile, const std::string& name) {
  if (Result<void> sound = check(profile, name); !sound) return sound;
  if (Result<void> added = add_runs(profile, name); !added) return added;
  if (first_name_.empty()) first_name_ = name;
  sums_->add(std::move(profile));
  return check_room(0, name);
}

Profile Merger::take() { return sums_->take(); }

}  // namespace pctally
