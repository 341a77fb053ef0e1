#include "profile/load.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text_field.h"
#include "histfile/process_note.h"
#include "histread/live_file.h"
#include "histread/path_reader.h"
#include "profile/positions.h"
#include "profile/runs.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {
namespace {

/// A thread killed inside a tick has raised its process and perhaps its cell, and not the ledger: no damage.
constexpr uint64_t kTornTicks = 64;

ExecutableKind executable_kind(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kVdso:
      return ExecutableKind::kVdso;
    case ObjectKind::kKernel:
      return ExecutableKind::kKernel;
    case ObjectKind::kPrivate:
      return ExecutableKind::kPrivate;
    case ObjectKind::kStart:
      return ExecutableKind::kStart;
    default:
      return ExecutableKind::kFile;
  }
}

uint64_t span_ns(uint64_t from, uint64_t to) { return to > from ? to - from : 0; }

void describe_run(const FileHeader& header, ProfileRun* profile) {
  profile->engine = field_text(header.engine);
  profile->event = field_text(header.event);
  profile->machine = field_text(header.machine);
  profile->release = field_text(header.release);
  profile->boot_id.assign(header.boot_id, header.boot_id + sizeof header.boot_id);
  std::copy_n(header.recording_id, sizeof header.recording_id, profile->recording_id.begin());
  profile->period_asked_ns = header.period_asked_ns;
  profile->period_ns = header.period_ns;
  profile->started_unix_ns = header.started_unix_ns;
  profile->closed = header.state == FileState::kClosed;
  profile->snapshot = header.snapshot != 0;
  profile->duration_ns = span_ns(header.started_ns, profile->closed ? header.ended_ns : header.heartbeat_ns);
  profile->kernel_observed = header.kernel_observed != 0;
  profile->cpu_known = header.cpu_known != 0;
  profile->cpu_user_ns = header.cpu_user_ns;
  profile->cpu_system_ns = header.cpu_system_ns;
  profile->stolen_ns = header.stolen_ns;
  profile->throttled = header.throttled;
  profile->clock_tick_ns = header.clock_tick_ns;
  profile->machine_cpus = header.machine_cpus;
  profile->starts_in_step = header.starts_in_step;
  profile->exit_status = header.exit_status;
}

FileStamp stamp_of(const FileObject& object) {
  if (object.kind != ObjectKind::kFile || !object.build_id.empty()) return {};
  return {object.device, object.inode, object.file_bytes, object.time_unix_ns};
}

/// Enters every object once, however often racing writers did, and returns where each went.
std::vector<uint32_t> merge_objects(std::vector<FileObject>& objects, Profile* profile) {
  using Identity = std::tuple<ObjectKind, std::string, std::vector<uint8_t>, int32_t, FileStamp, uint64_t,
                              std::vector<uint8_t>>;
  std::map<Identity, uint32_t> known;
  std::vector<uint32_t> place;
  const bool merged = !profile->runs.empty();  // processes of several boots may have one number
  for (FileObject& object : objects) {
    auto next = static_cast<uint32_t>(profile->executables.size());
    const FileStamp stamp = stamp_of(object);
    const uint64_t born = object.kind == ObjectKind::kPrivate ? object.time_unix_ns : 0;
    auto [entry, fresh] = known.try_emplace(
        {object.kind, object.path, object.build_id, object.owner, stamp, merged ? born : 0, object.boot_id},
        next);
    if (fresh)
      profile->executables.push_back({executable_kind(object.kind), std::move(object.path),
                                      std::move(object.build_id), object.owner, stamp, born,
                                      std::move(object.boot_id)});
    place.push_back(entry->second);
  }
  return place;
}

/// In place: a file may hold millions of cells.
void merge_cells(std::vector<WeightedPosition> cells, const std::vector<uint32_t>& place, Profile* profile) {
  for (WeightedPosition& cell : cells) cell.executable = place[cell.executable];
  add_up(&cells);
  profile->positions = std::move(cells);
}

TickLedger ledger_of(const Ledger& ledger) {
  return {.counted = ledger.counted,
          .outside = ledger.outside,
          .full = ledger.full,
          .lost = ledger.lost,
          .samples = ledger.samples,
          .weight_squares = static_cast<double>(ledger.weight_squares)};
}

/// The cells are the truth of what was counted. In a live file the ledger is in motion; in a closed one it
/// agrees but for torn ticks, and ticks it knows of without a cell are lost ones.
void add_ledger(const Ledger& ledger, uint64_t claimed_counted, Profile* profile) {
  TickLedger& sum = profile->ledger;
  sum = ledger_of(ledger);
  if (!profile->closed || claimed_counted == sum.counted) return;
  if (claimed_counted > sum.counted) sum.lost += claimed_counted - sum.counted;
  if (std::max(claimed_counted, sum.counted) - std::min(claimed_counted, sum.counted) <= kTornTicks) return;
  profile->damage.push_back(std::to_string(claimed_counted) + " ticks were counted, the file holds " +
                            std::to_string(sum.counted));
}

ProfileProcess process_of(FileProcess& process) {
  bool observed = (process.flags & kProcessObserved) != 0;
  return {.pid = process.pid,
          .parent = process.parent,
          .comm = std::move(process.comm),
          .engine = observed ? std::move(process.engine) : std::string(),
          .note = process_note_text(process.note),
          .sampled_again = process.note == ProcessNote::kReplaced,
          .ticks = process.ticks,
          .cpu_ns = process.cpu_ns,
          .blocked_ns = process.blocked_ns,
          .small_stack_ns = process.small_stack_ns,
          .timerless_ns = process.timerless_ns,
          .unseen_start_ns = process.unseen_start_ns};
}

void add_processes(std::vector<FileProcess>& processes, uint64_t excess, Profile* profile) {
  std::sort(processes.begin(), processes.end(), [](const FileProcess& a, const FileProcess& b) {
    return std::tie(a.started_ns, a.pid, a.comm) < std::tie(b.started_ns, b.pid, b.comm);
  });
  for (FileProcess& process : processes)
    if ((process.flags & kProcessTakenBack) == 0) profile->processes.push_back(process_of(process));
  if (profile->closed && excess > kTornTicks)
    profile->damage.push_back("the processes claim " + std::to_string(excess) +
                              " tick(s) more than there are");
}

/// Racing writers may have entered a node twice.
PathTree merged(const PathTree& tree, const std::vector<uint32_t>& place) {
  PathTree result;
  std::map<PathTreeNode::Key, uint32_t> known;
  std::vector<uint32_t> moved;
  result.reserve(tree.size());
  moved.reserve(tree.size());
  for (PathTreeNode node : tree) {
    if (node.parent != PathTreeNode::kNoParent) node.parent = moved[node.parent];
    if (node.kind == PathNodeKind::kCode) node.executable = place[node.executable];
    const auto next = static_cast<uint32_t>(result.size());
    const auto [entry, fresh] = known.try_emplace(node.key(), next);
    moved.push_back(entry->second);
    if (fresh) {
      result.push_back(node);
      continue;
    }
    result[entry->second].self += node.self;
    result[entry->second].folded += node.folded;
  }
  return result;
}

/// Removes ends of paths that no tick has: a file has no such nodes, so the profile would change by being
/// written.
void drop_empty_ends(PathTree* tree) {
  std::vector<uint32_t> place(tree->size());
  uint32_t kept = 0;
  for (size_t i = 0; i < tree->size(); ++i) {
    PathTreeNode node = (*tree)[i];
    place[i] = kept;
    if (node.is_end && node.self == 0) continue;  // and no node lies below it
    if (node.parent != PathTreeNode::kNoParent) node.parent = place[node.parent];
    (*tree)[kept++] = node;
  }
  tree->resize(kept);
}

/// A copy of a growing file may have the paths of ticks that its cells do not have yet. They are taken from
/// the nodes with the most, then from folded ones, so that no share is above 100 %.
void take_path_excess(uint64_t excess, uint64_t placed, CallPaths* paths) {
  std::vector<PathTreeNode*> order;
  for (PathTreeNode& node : paths->context) order.push_back(&node);
  std::stable_sort(order.begin(), order.end(),
                   [](const PathTreeNode* a, const PathTreeNode* b) { return a->self > b->self; });
  for (uint64_t PathTreeNode::*ticks : {&PathTreeNode::self, &PathTreeNode::folded})
    for (PathTreeNode* node : order) {
      const uint64_t taken = std::min(excess, node->*ticks);
      node->*ticks -= taken;
      excess -= taken;
    }
  drop_empty_ends(&paths->context);
  for (PathTreeNode& node : paths->plane) node.self = std::min(node.self, placed);
}

/// Ticks whose path the recorder had not read (it was killed, or goes on) are cut paths, too.
void add_paths(CallPaths paths, const std::vector<uint32_t>& place, Profile* profile) {
  const TickLedger& ledger = profile->ledger;
  const uint64_t placed = ledger.counted + ledger.outside + ledger.full;
  paths.context = merged(paths.context, place);
  paths.plane = merged(paths.plane, place);
  uint64_t sum = sum_of_paths(paths);
  if (sum < placed) {
    PathTreeNode scope{.kind = PathNodeKind::kScope, .position = UINT32_MAX};
    PathTreeNode cut{.parent = static_cast<uint32_t>(paths.context.size()),
                     .kind = PathNodeKind::kCut,
                     .position = static_cast<uint64_t>(PathEnd::kInterrupted),
                     .self = placed - sum};
    paths.context.push_back(scope);
    paths.context.push_back(cut);
  }
  if (sum > placed && profile->closed && !profile->snapshot && sum - placed > kTornTicks)
    profile->damage.push_back("the call paths hold " + std::to_string(sum) + " ticks, there are " +
                              std::to_string(placed));
  else if (sum > placed)
    take_path_excess(sum - placed, placed, &paths);
  profile->paths = std::move(paths);
}

/// The sums of a merged file follow from its runs; what it says of them itself is for readers that know none.
void add_runs(std::vector<FileRun>& runs, Profile* profile) {
  if (runs.empty()) return;
  for (FileRun& file_run : runs) {
    ProfileRun& run = profile->runs.emplace_back();
    describe_run(file_run.header, &run);
    run.command = std::move(file_run.command);
    run.measured_ticks = file_run.measured_ticks;
    run.ledger = ledger_of(file_run.header.ledger);
  }
  const uint64_t period = profile->period_ns;
  sum_up_runs(profile);
  if (period != profile->period_ns) profile->damage.emplace_back("its period is not that of its runs");
  profile->period_ns = period;
}

/// Those of a sound merged file are the runs' to the nanosecond.
void check_sums(Profile* profile) {
  if (profile->runs.empty()) return;
  const std::optional<TickLedger> sum = sum_of_ledgers(profile->runs, profile->period_ns);
  if (sum && sum->ticks() == profile->ledger.ticks()) return;
  profile->damage.emplace_back("the ledgers of its runs do not add up to its own");
}

Profile profile_of(FileContents contents) {
  Profile profile;
  describe_run(contents.header, &profile);
  profile.command = std::move(contents.command);
  profile.damage = std::move(contents.damage);
  add_runs(contents.runs, &profile);
  if (profile.period_ns == 0)
    profile.damage.push_back("the period is not known: ticks cannot be turned into " +
                             (profile.counts_cpu_time() ? "seconds" : profile.event));
  uint64_t claimed_counted = contents.header.ledger.counted;
  uint64_t excess = balance_account(&contents);
  std::vector<uint32_t> place = merge_objects(contents.objects, &profile);
  merge_cells(std::move(contents.cells), place, &profile);
  add_ledger(contents.header.ledger, claimed_counted, &profile);
  check_sums(&profile);
  add_processes(contents.processes, excess, &profile);
  if (contents.paths.has_scopes()) add_paths(std::move(contents.paths), place, &profile);
  return profile;
}

}  // namespace

Result<Profile> load_profile(std::span<const unsigned char> bytes) {
  Result<FileContents> contents = read_file_contents(bytes);
  if (!contents) return std::unexpected(contents.error());
  return profile_of(std::move(*contents));
}

Profile load_profile(FileCopy copy) {
  copy.bytes = {};  // all that is needed of them was read
  Profile profile = profile_of(std::move(copy.contents));
  profile.recorder_alive = copy.recorder_alive && !profile.closed;
  return profile;
}

Result<Profile> load_profile(const char* path) {
  Result<LiveFile> file = LiveFile::open(path);
  if (!file) return std::unexpected(file.error());
  Result<FileCopy> copy = file->copy();
  if (!copy) return fail(copy.error().code, "%s: %s", path, copy.error().text);
  return load_profile(std::move(*copy));
}

}  // namespace pctally
