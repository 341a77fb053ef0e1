#include "profile/write.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <span>

#include "histfile/call_paths.h"
#include "histfile/file_identity.h"
#include "histfile/layout.h"
#include "histfile/process_note.h"
#include "profile/units.h"
#include "tick/cell_tree.h"

namespace pctally {
namespace {

constexpr uint64_t kWidestGap = 16 << 10;              ///< between places of one segment
constexpr uint32_t kMostSegmentUnit = (1u << 24) - 1;  ///< that a PathPlace has room for

/// What text takes, with its length and the rest of its last unit.
uint64_t text_bytes(const std::string& text) { return text.size() + sizeof(StringRecord) + kUnitBytes; }

uint64_t run_bytes(const ProfileRun& run) {
  uint64_t bytes = sizeof(RunRecord) + text_bytes({});
  for (const std::string& argument : run.command) bytes += argument.size() + 1;
  return bytes;
}

/// More than the file of a profile takes: as if every place had a segment, a block and a leaf of its own, as
/// far from the next one as places of one segment may be.
uint64_t bytes_at_most(const Profile& profile) {
  const CallPaths& paths = profile.paths;
  const uint64_t nodes = paths.context.size() + paths.plane.size();
  constexpr uint64_t kSegment = sizeof(SegmentRecord) + (directory_units(kWidestGap) + 1) * kUnitBytes;
  constexpr uint64_t kNode = sizeof(PathNode) + 2 * sizeof(uint32_t);  // and its slots of a directory
  uint64_t bytes = kHeaderBytes + sizeof(PathRecord) + (1 << 12) + run_bytes(profile);
  bytes += profile.positions.size() * (kSegment + (kBlockUnits + kLeafUnits) * kUnitBytes);
  bytes += nodes * (kSegment + kNode) + profile.processes.size() * sizeof(ProcessRecord);
  for (const ProfileRun& run : profile.runs) bytes += run_bytes(run);
  for (const Executable& executable : profile.executables)
    bytes += sizeof(ObjectRecord) + text_bytes(executable.path);
  for (const PathScope& scope : paths.scopes) bytes += sizeof(ScopeRecord) + text_bytes(scope.name);
  return bytes;
}

class FileWriter {
 public:
  FileWriter(const Profile& profile, uint64_t most_bytes)
      : profile_(profile), units_(most_bytes, bytes_at_most(profile)) {}
  Result<std::vector<unsigned char>> run();

 private:
  struct Segment {
    uint32_t unit = 0;
    uint32_t executable = 0;
    uint64_t start = 0;
    uint64_t bytes = 0;
  };

  void add_objects();
  void add_segments();
  void add_segment(uint32_t executable, uint64_t first, uint64_t last);
  void add_directories();
  void add_cells();
  void add_processes();
  void add_runs();
  void add_scopes();
  void add_paths();
  void add_tree(const PathTree& tree, size_t head);
  uint64_t place_of(const PathTreeNode& node) const;
  const Segment& segment_of(uint32_t executable, uint64_t position) const;
  uint32_t add_command(const std::vector<std::string>& command);
  FileHeader header_of(const ProfileRun& run) const;
  void finish();

  const Profile& profile_;
  Units units_;
  FileHeader header_{};
  std::vector<uint32_t> objects_, scopes_;  ///< units
  std::vector<Segment> segments_;           ///< ascending by (executable, start)
};

ObjectKind object_kind(ExecutableKind kind) {
  switch (kind) {
    case ExecutableKind::kVdso:
      return ObjectKind::kVdso;
    case ExecutableKind::kKernel:
      return ObjectKind::kKernel;
    case ExecutableKind::kPrivate:
      return ObjectKind::kPrivate;
    case ExecutableKind::kStart:
      return ObjectKind::kStart;
    default:
      return ObjectKind::kFile;
  }
}

ScopeKind scope_kind(PathScopeKind kind) {
  if (kind == PathScopeKind::kThread) return ScopeKind::kThread;
  return kind == PathScopeKind::kGroup ? ScopeKind::kGroup : ScopeKind::kProgram;
}

template <size_t kBytes>
void copy_text(const std::string& text, char (&field)[kBytes]) {
  memcpy(field, text.data(), std::min(text.size(), kBytes));
}

template <size_t kBytes>
uint32_t copy_bytes(std::span<const uint8_t> bytes, uint8_t (&field)[kBytes]) {
  const size_t size = std::min(bytes.size(), kBytes);
  std::copy_n(bytes.begin(), size, field);
  return static_cast<uint32_t>(size);
}

/// The number whose text it is.
ProcessNote note_of(const std::string& text) {
  for (uint32_t note = 0; note <= static_cast<uint32_t>(kLastNote); ++note)
    if (text == process_note_text(static_cast<ProcessNote>(note))) return static_cast<ProcessNote>(note);
  return ProcessNote::kNone;
}

void FileWriter::add_objects() {
  for (const Executable& executable : profile_.executables) {
    ObjectRecord record{};
    record.kind = object_kind(executable.kind);
    record.path = units_.add_text(executable.path);
    record.device = executable.stamp.device;
    record.inode = executable.stamp.inode;
    record.owner = executable.owner;
    record.build_id_bytes = copy_bytes(executable.build_id, record.build_id);
    record.file_bytes = executable.stamp.bytes;
    record.time_unix_ns = executable.kind == ExecutableKind::kPrivate ? executable.time_unix_ns
                                                                      : executable.stamp.changed_unix_ns;
    copy_bytes(executable.boot_id, record.boot_id);
    objects_.push_back(units_.add(record));
  }
  for (size_t i = objects_.size(); i-- > 0;)
    header_.objects = units_.link<ObjectRecord>(objects_[i], header_.objects);
}

/// Ranges that hold all places: of ticks, and of calls.
void FileWriter::add_segments() {
  std::vector<std::pair<uint32_t, uint64_t>> places;
  for (const WeightedPosition& position : profile_.positions)
    places.emplace_back(position.executable, position.position);
  for (const PathTree* tree : {&profile_.paths.context, &profile_.paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) places.emplace_back(node.executable, node.position);
  std::sort(places.begin(), places.end());
  for (size_t first = 0, i = 0; i < places.size(); ++i) {
    const bool last = i + 1 == places.size() || places[i + 1].first != places[i].first ||
                      places[i + 1].second - places[i].second > kWidestGap;
    if (!last) continue;
    add_segment(places[i].first, places[first].second, places[i].second);
    first = i + 1;
  }
}

void FileWriter::add_segment(uint32_t executable, uint64_t first, uint64_t last) {
  const uint64_t start = first >> kDirectoryShift << kDirectoryShift;
  SegmentRecord record{};
  record.start = start;
  record.bytes = last - start + 1;
  auto* object = units_.at<ObjectRecord>(objects_[executable]);
  record.next = object->segments;
  const uint32_t unit = units_.add(record);
  units_.at<ObjectRecord>(objects_[executable])->segments = unit;
  segments_.push_back({unit, executable, start, record.bytes});
}

void FileWriter::add_directories() {
  for (const Segment& segment : segments_) {
    const uint32_t directory = units_.take(directory_units(segment.bytes));
    units_.at<SegmentRecord>(segment.unit)->directory = directory;
  }
}

const FileWriter::Segment& FileWriter::segment_of(uint32_t executable, uint64_t position) const {
  const auto behind = std::upper_bound(segments_.begin(), segments_.end(), std::pair(executable, position),
                                       [](const auto& place, const Segment& segment) {
                                         return place < std::pair(segment.executable, segment.start);
                                       });
  return *(behind - 1);
}

void FileWriter::add_cells() {
  for (const WeightedPosition& position : profile_.positions) {
    const Segment& segment = segment_of(position.executable, position.position);
    const uint32_t directory = units_.at<SegmentRecord>(segment.unit)->directory;
    units_.add_cell(directory, position.position - segment.start, position.ticks);
  }
}

void FileWriter::add_processes() {
  header_.process_count = static_cast<uint32_t>(profile_.processes.size());
  for (size_t i = profile_.processes.size(); i-- > 0;) {
    const ProfileProcess& process = profile_.processes[i];
    ProcessRecord record{};
    record.next = header_.processes;
    record.pid = process.pid;
    record.parent = process.parent;
    record.note = note_of(process.note);
    if (!process.engine.empty()) record.flags = kProcessObserved;
    record.ticks = process.ticks;
    record.cpu_ns = process.cpu_ns;
    record.started_ns = i;  // readers order by it
    copy_text(process.comm, record.comm);
    copy_text(process.engine, record.engine);
    record.blocked_ns = process.blocked_ns;
    record.small_stack_ns = process.small_stack_ns;
    record.timerless_ns = process.timerless_ns;
    record.unseen_start_ns = process.unseen_start_ns;
    header_.processes = units_.add(record);
  }
}

uint32_t FileWriter::add_command(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& argument : command) text.append(argument).append(1, '\0');
  return text.empty() ? 0 : units_.add_text(text);
}

FileHeader FileWriter::header_of(const ProfileRun& run) const {
  FileHeader header{};
  identify(&header);
  if (profile_.paths.has_scopes()) header.version = kPathsLayoutVersion;
  header.pointer_bytes = 8;  // on every machine: equal profiles give equal bytes
  header.state = run.closed ? FileState::kClosed : FileState::kRecording;
  header.exit_status = run.exit_status;
  copy_text(run.engine, header.engine);
  header.period_asked_ns = run.period_asked_ns;
  header.period_ns = run.period_ns;
  header.started_unix_ns = run.started_unix_ns;
  header.ended_ns = header.heartbeat_ns = run.duration_ns;
  header.cpu_user_ns = run.cpu_user_ns;
  header.cpu_system_ns = run.cpu_system_ns;
  header.cpu_known = run.cpu_known ? 1 : 0;
  header.kernel_observed = run.kernel_observed ? 1 : 0;
  header.throttled = run.throttled;
  header.clock_tick_ns = run.clock_tick_ns;
  copy_bytes(run.boot_id, header.boot_id);
  copy_text(run.release, header.release);
  copy_text(run.machine, header.machine);
  header.ended = 1;
  header.snapshot = run.snapshot ? 1 : 0;
  header.machine_cpus = run.machine_cpus;
  header.starts_in_step = run.starts_in_step;
  copy_text(run.event, header.event);
  header.stolen_ns = run.stolen_ns;
  copy_bytes(run.recording_id, header.recording_id);
  const TickLedger& ledger = run.ledger;
  header.ledger.counted = ledger.counted;
  header.ledger.outside = ledger.outside;
  header.ledger.full = ledger.full;
  header.ledger.lost = ledger.lost;
  header.ledger.samples = ledger.samples;
  header.ledger.weight_squares =
      ledger.weight_squares < 0x1p64 ? static_cast<uint64_t>(ledger.weight_squares) : UINT64_MAX;
  return header;
}

void FileWriter::add_runs() {
  for (size_t i = profile_.runs.size(); i-- > 0;) {
    const ProfileRun& run = profile_.runs[i];
    RunRecord record{};
    record.next = header_.runs;
    record.measured_ticks = run.measured_ticks;
    record.header = header_of(run);
    record.header.command = add_command(run.command);
    header_.runs = units_.add(record);
  }
}

void FileWriter::add_scopes() {
  for (const PathScope& scope : profile_.paths.scopes) {
    ScopeRecord record{};
    record.name = units_.add_text(scope.name);
    record.kind = scope_kind(scope.kind);
    if (scope.kind == PathScopeKind::kThread)
      memcpy(reinterpret_cast<char*>(&record) + offsetof(ScopeRecord, device), scope.thread.data(),
             std::min(scope.thread.size(), kThreadNameBytes));
    record.build_id_bytes = copy_bytes(scope.build_id, record.build_id);
    scopes_.push_back(units_.add(record));
  }
  for (size_t i = scopes_.size(); i-- > 0;)
    header_.scopes = units_.link<ScopeRecord>(scopes_[i], header_.scopes);
}

uint64_t FileWriter::place_of(const PathTreeNode& node) const {
  const auto number = static_cast<uint32_t>(node.position);
  switch (node.kind) {
    case PathNodeKind::kScope:
      return PathPlace::mark(PathPlace::kScope, number < scopes_.size() ? scopes_[number] : 0);
    case PathNodeKind::kCut:
      return PathPlace::mark(PathPlace::kCut, number);
    case PathNodeKind::kCode: {
      const Segment& segment = segment_of(node.executable, node.position);
      return PathPlace::code(segment.unit, node.position - segment.start);
    }
    default:
      return PathPlace::mark(PathPlace::kOthers, number);
  }
}

void FileWriter::add_tree(const PathTree& tree, size_t head_offset) {
  if (tree.empty()) return;
  PathTreeHead head = tree_head_for(tree.size());
  head.nodes = head.most_nodes;
  head.directory = units_.take(path_directory_units(head.slots_log2));
  const uint32_t first = units_.take((tree.size() + 1) / kNodesPerUnit) * kNodesPerUnit;
  if (units_.full()) return;
  // Backwards, so that the chain of a slot is in the tree's order.
  for (size_t i = tree.size(); i-- > 0;) {
    const PathTreeNode& node = tree[i];
    const uint32_t parent = node.parent == PathTreeNode::kNoParent ? 0 : first + node.parent;
    const uint64_t place = place_of(node);
    uint32_t* slot = path_slot(units_.pool(), first_directory(head), parent, place);
    *path_node(units_.pool(), first + static_cast<uint32_t>(i)) = {*slot, parent, place, node.self,
                                                                   node.folded};
    *slot = first + static_cast<uint32_t>(i);
  }
  memcpy(units_.at<unsigned char>(header_.paths) + head_offset, &head, sizeof head);
}

void FileWriter::add_paths() {
  if (!profile_.paths.has_scopes()) return;
  PathRecord record{};
  record.no_room = profile_.paths.no_room;
  record.pruned = profile_.paths.pruned;
  record.stack_bytes = profile_.paths.stack_bytes;
  record.one_frame = profile_.paths.one_frame ? 1 : 0;
  record.first_come = profile_.paths.first_come ? 1 : 0;
  header_.paths = units_.add(record);
  add_tree(profile_.paths.context, offsetof(PathRecord, context));
  add_tree(profile_.paths.plane, offsetof(PathRecord, plane));
}

void FileWriter::finish() {
  FileHeader whole = header_of(profile_);
  whole.state = FileState::kClosed;  // nothing is added any more, whatever its runs are
  whole.pool = {units_.used(), units_.used()};
  whole.objects = header_.objects;
  whole.processes = header_.processes;
  whole.process_count = header_.process_count;
  whole.paths = header_.paths;
  whole.scopes = header_.scopes;
  whole.runs = header_.runs;
  whole.command = header_.command;
  units_.set_header(whole);
}

Result<std::vector<unsigned char>> FileWriter::run() {
  if (profile_.paths.scopes.size() > kMostScopesOfFile)
    return fail(E2BIG, "there are %zu programs, threads or groups; a file holds %zu: merge fewer",
                profile_.paths.scopes.size(), kMostScopesOfFile);
  header_.command = add_command(profile_.command);
  add_objects();
  add_segments();
  if (!segments_.empty() && segments_.back().unit > kMostSegmentUnit)
    return fail(E2BIG, "too many objects for one file; merge fewer");
  add_directories();
  add_cells();
  add_processes();
  add_runs();
  add_scopes();
  add_paths();
  if (units_.full())
    return fail(E2BIG,
                "the sum's file takes more than is left of --memory, or the 1 GiB a file holds; merge fewer");
  finish();
  return units_.take_bytes();
}

}  // namespace

Result<std::vector<unsigned char>> merged_file(const Profile& profile, uint64_t most_bytes) {
  return FileWriter(profile, most_bytes).run();
}

}  // namespace pctally
