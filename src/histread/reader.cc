#include "histread/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/file/byte_reader.h"
#include "base/text_field.h"
#include "base/time_ns.h"
#include "histread/path_reader.h"
#include "tick/cell_tree.h"

namespace pctally {
namespace {

constexpr uint32_t kByteOrder = 0x01020304;
constexpr uint32_t kOtherByteOrder = 0x04030201;
constexpr uint64_t kLargestTotal = kLargestCount << 4;
constexpr uint64_t kLongestReadPeriodNs = 1'000'000'000'000;
constexpr uint64_t kArgumentsOfSmallFiles = 1 << 20;  ///< of all commands in one
constexpr std::string_view kUnknownEvent = "unknown-events";

/// What can be wrong with a part of a file that is left out for it.
enum Fault { kIndex, kShared, kRange, kKind, kText, kBuildId, kCount, kBeyond, kPath, kFaults };

constexpr const char* kFaultText[kFaults] = {
    "reference(s) lead outside the file",
    "reference(s) lead to bytes already in use",
    "text range(s) cannot exist",
    "object(s) are of an unknown kind",
    "name(s) cannot be read",
    "build id(s) are too long",
    "count(s) are impossibly large",
    "count(s) lie behind the end of their text range",
    "node(s) of call paths cannot be read",
};

class Walk {
 public:
  Walk(std::span<const unsigned char> bytes, const FileHeader& header);
  FileContents run();

 private:
  /// Marks units as visited. False, and a fault noted, if they are not all inside and fresh.
  bool claim(uint32_t first, uint64_t units);
  /// Claims a record and copies it out.
  template <class Record>
  bool take(uint32_t unit, Record* record);

  void check_header(FileHeader* header);
  void limit(uint64_t* value, uint64_t most);
  void check_event(std::span<char> event);
  std::vector<std::string> read_command(uint32_t unit);
  void read_runs();
  void read_objects();
  void read_segments(uint32_t object, uint32_t first);
  void read_directory(const SegmentRecord& segment, uint32_t object);
  void read_block(uint32_t unit, const SegmentRecord& segment, uint32_t object, uint64_t index);
  void read_leaf(uint32_t unit, const SegmentRecord& segment, uint32_t object, uint64_t index);
  void add_cell(const SegmentRecord& segment, uint32_t object, uint64_t index, uint64_t ticks);
  void read_processes();
  void read_call_paths();
  std::string read_text(uint32_t unit);
  void describe_damage();

  void note(Fault fault) { ++faults_[fault]; }

  ByteReader bytes_;
  FileContents contents_;
  uint32_t units_;  ///< first unit that must not be touched
  std::vector<bool> visited_;
  uint64_t text_budget_;     ///< strings may be shared, but not without end
  uint64_t arguments_left_;  ///< one takes 32 bytes of memory, and an empty one a byte of a hole in the file
  uint64_t total_ = 0;
  std::unordered_map<uint32_t, FileSegment> segments_;  ///< by unit
  uint64_t faults_[kFaults] = {};
};

Walk::Walk(std::span<const unsigned char> bytes, const FileHeader& header)
    : bytes_(bytes),
      text_budget_(bytes.size()),
      arguments_left_(std::max(kArgumentsOfSmallFiles, uint64_t{bytes.size()} / sizeof(std::string))) {
  contents_.header = header;
  uint64_t units = std::min<uint64_t>(header.pool.limit, (bytes.size() - kHeaderBytes) / kUnitBytes);
  // While a file is live, `used` may already be behind what the pool's units refer to.
  if (header.state == FileState::kClosed) units = std::min<uint64_t>(units, header.pool.used);
  units_ = static_cast<uint32_t>(units);
  visited_.resize(units_);
}

bool Walk::claim(uint32_t first, uint64_t units) {
  if (first == 0 || first >= units_ || units > units_ - first) {
    note(kIndex);
    return false;
  }
  // Units claimed before the conflict stay claimed: otherwise many overlapping directories would
  // cost squared time.
  for (uint64_t unit = first; unit < first + units; ++unit) {
    if (visited_[unit]) {
      note(kShared);
      return false;
    }
    visited_[unit] = true;
  }
  return true;
}

template <class Record>
bool Walk::take(uint32_t unit, Record* record) {
  static_assert(sizeof(Record) % kUnitBytes == 0);
  return claim(unit, sizeof(Record) / kUnitBytes) && bytes_.read(unit_offset(unit), record);
}

void Walk::limit(uint64_t* value, uint64_t most) {
  if (*value <= most) return;
  *value = 0;
  note(kCount);
}

void Walk::check_header(FileHeader* checked) {
  FileHeader& header = *checked;
  Ledger& ledger = header.ledger;
  for (uint64_t* count : {&ledger.counted, &ledger.outside, &ledger.full, &ledger.lost, &ledger.deferred,
                          &ledger.resolved, &ledger.samples})
    limit(count, kLargestCount);
  limit(&header.period_ns, kLongestReadPeriodNs);
  limit(&header.period_asked_ns, kLongestReadPeriodNs);
  if (header.cpu_user_ns > kLongestTimeNs || header.cpu_system_ns > kLongestTimeNs) header.cpu_known = 0;
  limit(&header.cpu_user_ns, kLongestTimeNs);
  limit(&header.cpu_system_ns, kLongestTimeNs);
  check_event(header.event);
}

/// A name that cannot be read is another event all the same: its ticks are not taken for CPU time.
void Walk::check_event(std::span<char> event) {
  auto end = std::find(event.begin(), event.end(), '\0');
  if (std::all_of(event.begin(), end, [](char c) { return c > ' ' && c <= '~'; })) return;
  note(kText);
  std::ranges::fill(event, '\0');
  std::ranges::copy(kUnknownEvent, event.begin());
}

std::string Walk::read_text(uint32_t unit) {
  StringRecord record;
  if (unit == 0) return {};
  bool inside = unit < units_ && bytes_.read(unit_offset(unit), &record);
  uint64_t room = inside ? (units_ - unit) * kUnitBytes - sizeof record : 0;
  if (!inside || record.bytes > room || record.bytes > text_budget_) {
    note(kText);
    return {};
  }
  text_budget_ -= record.bytes;
  std::span<const unsigned char> text = bytes_.slice(unit_offset(unit) + sizeof record, record.bytes);
  return std::string(text.begin(), text.end());
}

std::vector<std::string> Walk::read_command(uint32_t unit) {
  std::vector<std::string> command;
  std::string text = read_text(unit);
  for (size_t start = 0; start < text.size();) {
    if (arguments_left_ == 0) {
      note(kText);
      break;
    }
    --arguments_left_;
    size_t end = std::min(text.find('\0', start), text.size());
    command.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return command;
}

void Walk::read_runs() {
  RunRecord record;
  for (uint32_t unit = contents_.header.runs; unit != 0; unit = record.next) {
    if (!take(unit, &record)) return;
    check_header(&record.header);
    limit(&record.measured_ticks, kLargestCount);
    contents_.runs.push_back({record.header, read_command(record.header.command), record.measured_ticks});
  }
}

void Walk::read_objects() {
  ObjectRecord record;
  for (uint32_t unit = contents_.header.objects; unit != 0; unit = record.next) {
    if (!take(unit, &record)) return;
    if (record.kind > ObjectKind::kStart) {
      note(kKind);
      continue;
    }
    FileObject object{.kind = record.kind,
                      .path = read_text(record.path),
                      .build_id = {},
                      .owner = record.kind == ObjectKind::kPrivate ? record.owner : 0,
                      .device = record.device,
                      .inode = record.inode,
                      .file_bytes = record.file_bytes,
                      .time_unix_ns = record.time_unix_ns};
    if (contents_.header.runs != 0 &&
        std::ranges::any_of(record.boot_id, [](uint8_t byte) { return byte != 0; }))
      object.boot_id.assign(record.boot_id, record.boot_id + sizeof record.boot_id);
    if (record.build_id_bytes > sizeof record.build_id)
      note(kBuildId);
    else
      object.build_id.assign(record.build_id, record.build_id + record.build_id_bytes);
    contents_.objects.push_back(std::move(object));
    read_segments(static_cast<uint32_t>(contents_.objects.size() - 1), record.segments);
  }
}

void Walk::read_segments(uint32_t object, uint32_t first) {
  SegmentRecord record;
  for (uint32_t unit = first; unit != 0; unit = record.next) {
    if (!take(unit, &record)) return;
    if (record.bytes == 0) continue;
    // More text than the whole pool has directory slots for, or text that runs over the end of
    // the address space.
    uint64_t most = (uint64_t{units_} * kUnitBytes / sizeof(uint32_t)) << kDirectoryShift;
    if (record.bytes > most || record.start > UINT64_MAX - (record.bytes - 1)) {
      note(kRange);
      continue;
    }
    contents_.segments.push_back({object, record.start, record.bytes});
    segments_[unit] = contents_.segments.back();
    if (claim(record.directory, directory_units(record.bytes))) read_directory(record, object);
  }
}

void Walk::read_directory(const SegmentRecord& segment, uint32_t object) {
  uint64_t slots = ((segment.bytes - 1) >> kDirectoryShift) + 1;
  for (uint64_t slot = 0; slot < slots; ++slot) {
    uint32_t block = 0;
    if (!bytes_.read(unit_offset(segment.directory) + slot * sizeof block, &block)) return;
    if (block != 0) read_block(block, segment, object, slot << kDirectoryShift);
  }
}

void Walk::read_block(uint32_t unit, const SegmentRecord& segment, uint32_t object, uint64_t index) {
  uint32_t leaves[kFanOut];
  static_assert(sizeof leaves == kBlockUnits * kUnitBytes);
  if (!take(unit, &leaves)) return;
  for (uint32_t i = 0; i < kFanOut; ++i)
    if (leaves[i] != 0) read_leaf(leaves[i], segment, object, index + (uint64_t{i} << kLeafShift));
}

void Walk::read_leaf(uint32_t unit, const SegmentRecord& segment, uint32_t object, uint64_t index) {
  uint64_t cells[kFanOut];
  static_assert(sizeof cells == kLeafUnits * kUnitBytes);
  if (!take(unit, &cells)) return;
  for (uint32_t i = 0; i < kFanOut; ++i)
    if (cells[i] != 0) add_cell(segment, object, index + i, cells[i]);
}

void Walk::add_cell(const SegmentRecord& segment, uint32_t object, uint64_t index, uint64_t ticks) {
  if (index >= segment.bytes) return note(kBeyond);
  if (ticks > kLargestCount || total_ + ticks > kLargestTotal) return note(kCount);
  total_ += ticks;
  contents_.cells.push_back({object, segment.start + index, ticks});
}

void Walk::read_processes() {
  ProcessRecord record;
  uint64_t total = 0;
  for (uint32_t unit = contents_.header.processes; unit != 0; unit = record.next) {
    if (!take(unit, &record)) return;
    limit(&record.ticks, std::min(kLargestCount, kLargestTotal - total));
    for (uint64_t* time : {&record.cpu_ns, &record.blocked_ns, &record.small_stack_ns, &record.timerless_ns,
                           &record.unseen_start_ns})
      limit(time, kLongestTimeNs);
    total += record.ticks;
    contents_.processes.push_back({.unit = unit,
                                   .pid = record.pid,
                                   .parent = record.parent,
                                   .note = record.note,
                                   .flags = record.flags,
                                   .ticks = record.ticks,
                                   .cpu_ns = record.cpu_ns,
                                   .blocked_ns = record.blocked_ns,
                                   .small_stack_ns = record.small_stack_ns,
                                   .timerless_ns = record.timerless_ns,
                                   .unseen_start_ns = record.unseen_start_ns,
                                   .started_ns = record.started_ns,
                                   .comm = field_text(record.comm),
                                   .engine = field_text(record.engine)});
  }
}

void Walk::read_call_paths() {
  PathSource source{.bytes = bytes_,
                    .units = units_,
                    .claim = [this](uint32_t first, uint64_t units) { return claim(first, units); },
                    .text = [this](uint32_t unit) { return read_text(unit); },
                    .segments = std::move(segments_)};
  PathDamage damage;
  contents_.paths = read_paths(std::move(source), contents_.header, &damage);
  faults_[kPath] += damage.nodes;
  faults_[kCount] += damage.counts;
}

void Walk::describe_damage() {
  const FileHeader& header = contents_.header;
  uint64_t expected = unit_offset(std::min(header.pool.used, header.pool.limit));
  if (header.state == FileState::kClosed && bytes_.size() < expected)
    contents_.damage.push_back(std::to_string(bytes_.size()) + " of " + std::to_string(expected) +
                               " bytes are there");
  for (int fault = 0; fault < kFaults; ++fault)
    if (faults_[fault] != 0)
      contents_.damage.push_back(std::to_string(faults_[fault]) + " " + kFaultText[fault]);
}

FileContents Walk::run() {
  check_header(&contents_.header);
  contents_.command = read_command(contents_.header.command);
  read_runs();
  contents_.cells.reserve(bytes_.size() / sizeof(uint64_t));  // growing would need twice the memory
  read_objects();
  read_processes();
  read_call_paths();
  describe_damage();
  return std::move(contents_);
}

}  // namespace

Result<FileHeader> read_file_header(std::span<const unsigned char> bytes) {
  FileHeader header;
  if (bytes.size() < sizeof kMagic || memcmp(bytes.data(), kMagic, sizeof kMagic) != 0)
    return fail(EINVAL, "not a profile; pctally record makes one");
  if (bytes.size() < kHeaderBytes || !ByteReader(bytes).read(0, &header))
    return fail(EINVAL, "truncated: %zu bytes are less than a header; record again", bytes.size());
  if (header.byte_order == kOtherByteOrder)
    return fail(EINVAL, "written on a machine of the other byte order; report it there");
  if (header.byte_order != kByteOrder) return fail(EINVAL, "damaged: its header is not one; record again");
  if (header.version > kPathsLayoutVersion)
    return fail(EINVAL,
                "written by a newer pctally (layout %" PRIu32 ", this one reads %" PRIu32 "); update pctally",
                header.version, kPathsLayoutVersion);
  if (!is_layout_version(header.version) || header.header_bytes != kHeaderBytes ||
      header.unit_bytes != kUnitBytes || header.state > FileState::kClosed)
    return fail(EINVAL, "damaged: its header is not one; record again");
  return header;
}

Result<FileContents> read_file_contents(std::span<const unsigned char> bytes) {
  Result<FileHeader> header = read_file_header(bytes);
  if (!header) return std::unexpected(header.error());
  return Walk(bytes, *header).run();
}

}  // namespace pctally
