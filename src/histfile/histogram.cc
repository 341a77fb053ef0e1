#include "histfile/histogram.h"

#include <string.h>

#include "base/fnv.h"
#include "histfile/chain.h"

namespace pctally {
namespace {

constexpr uint32_t kRecordUnits = 2;  ///< ObjectRecord, ProcessRecord

/// A file by its last change, code without a file by the start of its process: numbers of processes come
/// again.
bool is_known_by_time(const ObjectIdentity& identity) noexcept {
  return identity.build_id_bytes == 0 &&
         (identity.kind == ObjectKind::kFile || identity.kind == ObjectKind::kPrivate);
}

uint64_t hash_identity(const ObjectIdentity& identity) noexcept {
  Fnv hash;
  hash.add(identity.path.data(), identity.path.size());
  hash.add(identity.build_id, identity.build_id_bytes);
  hash.add(&identity.kind, sizeof identity.kind);
  hash.add(&identity.owner, sizeof identity.owner);
  if (identity.build_id_bytes == 0) {
    hash.add(&identity.device, sizeof identity.device);
    hash.add(&identity.inode, sizeof identity.inode);
  }
  if (is_known_by_time(identity)) {
    hash.add(&identity.file_bytes, sizeof identity.file_bytes);
    hash.add(&identity.time_unix_ns, sizeof identity.time_unix_ns);
  }
  return hash.value();
}

/// Puts a finished record at the head of a chain. False, and it is in no chain, if others keep
/// changing the head.
template <class Record>
bool push(const Pool& pool, uint32_t* head, uint32_t unit) noexcept {
  uint32_t first = __atomic_load_n(head, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0; attempt < kMostStepsInHandler; ++attempt) {
    pool_at<Record>(pool, unit)->next = first;
    if (__atomic_compare_exchange_n(head, &first, unit, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return true;
  }
  return false;
}

/// False also where this process has mapped less of the file than the one that made the directory.
bool covers(const Pool& pool, const SegmentRecord& segment, uint64_t start, uint64_t bytes) noexcept {
  const uint64_t first = load_relaxed(&segment.start), held = load_relaxed(&segment.bytes);
  if (start < first || bytes > held || start - first > held - bytes) return false;
  const uint64_t units = directory_units(held);
  return units <= UINT32_MAX && pool_holds(pool, __atomic_load_n(&segment.directory, __ATOMIC_RELAXED),
                                           static_cast<uint32_t>(units));
}

bool is_string(const Pool& pool, uint32_t unit, std::string_view text) noexcept {
  if (!pool_holds(pool, unit, string_units(static_cast<uint32_t>(text.size())))) return false;
  const auto* record = pool_at<StringRecord>(pool, unit);
  return __atomic_load_n(&record->bytes, __ATOMIC_RELAXED) == text.size() &&
         memcmp(record + 1, text.data(), text.size()) == 0;
}

/// The hash says where to look; whether it is the same object is decided by everything else.
bool is_object(const Pool& pool, const ObjectRecord& record, const ObjectIdentity& identity,
               uint64_t hash) noexcept {
  if (load_relaxed(&record.identity) != hash || record.kind != identity.kind ||
      record.owner != identity.owner || record.build_id_bytes != identity.build_id_bytes)
    return false;
  if (identity.build_id_bytes == 0 && (record.device != identity.device || record.inode != identity.inode))
    return false;
  if (is_known_by_time(identity) &&
      (record.file_bytes != identity.file_bytes || record.time_unix_ns != identity.time_unix_ns))
    return false;
  if (identity.build_id_bytes != 0 &&
      memcmp(record.build_id, identity.build_id, identity.build_id_bytes) != 0)
    return false;
  return is_string(pool, __atomic_load_n(&record.path, __ATOMIC_RELAXED), identity.path);
}

uint32_t add_object(const ProfileFile& file, const ObjectIdentity& identity, uint64_t hash) noexcept {
  Pool pool = file.pool();
  const uint32_t unit = pool_take(pool, kRecordUnits);
  const uint32_t path = unit == 0 ? 0 : add_string(pool, identity.path);
  if (path == 0) return 0;
  auto* record = pool_at<ObjectRecord>(pool, unit);
  record->path = path;
  record->kind = identity.kind;
  record->identity = hash;
  record->device = identity.device;
  record->inode = identity.inode;
  record->file_bytes = identity.file_bytes;
  record->time_unix_ns = identity.time_unix_ns;
  record->owner = identity.owner;
  record->build_id_bytes = identity.build_id_bytes;
  if (identity.build_id_bytes != 0) memcpy(record->build_id, identity.build_id, identity.build_id_bytes);
  return push<ObjectRecord>(pool, &file.header().objects, unit) ? unit : 0;
}

}  // namespace

uint32_t add_string(const Pool& pool, std::string_view text) noexcept {
  const uint32_t unit = pool_take(pool, string_units(static_cast<uint32_t>(text.size())));
  if (unit == 0) return 0;
  auto* record = pool_at<StringRecord>(pool, unit);
  record->bytes = static_cast<uint32_t>(text.size());
  memcpy(record + 1, text.data(), text.size());
  return unit;
}

uint32_t find_or_add_object(const ProfileFile& file, const ObjectIdentity& given) noexcept {
  ObjectIdentity identity = given;
  if (identity.build_id_bytes > sizeof(ObjectRecord::build_id)) identity.build_id_bytes = 0;
  const Pool pool = file.pool();
  const uint64_t hash = hash_identity(identity);
  const uint32_t found = walk_chain<ObjectRecord>(
      pool, &file.header().objects, kMostObjectsSearched,
      [&](const ObjectRecord& record, uint32_t) { return is_object(pool, record, identity, hash); });
  return found != 0 ? found : add_object(file, identity, hash);
}

uint32_t find_segment(const ProfileFile& file, uint32_t object, uint64_t start, uint64_t bytes) noexcept {
  const Pool pool = file.pool();
  if (!pool_holds(pool, object, kRecordUnits)) return 0;
  return walk_chain<SegmentRecord>(
      pool, &pool_at<ObjectRecord>(pool, object)->segments, kMostSegmentsSearched,
      [&](const SegmentRecord& segment, uint32_t) { return covers(pool, segment, start, bytes); });
}

uint32_t find_or_add_segment(const ProfileFile& file, uint32_t object, uint64_t start,
                             uint64_t bytes) noexcept {
  const Pool pool = file.pool();
  const uint64_t units = directory_units(bytes);
  if (!pool_holds(pool, object, kRecordUnits) || units > UINT32_MAX) return 0;
  if (const uint32_t found = find_segment(file, object, start, bytes); found != 0) return found;
  uint32_t* head = &pool_at<ObjectRecord>(pool, object)->segments;
  const uint32_t unit = pool_take(pool, 1);
  const uint32_t directory = unit == 0 ? 0 : pool_take(pool, static_cast<uint32_t>(units));
  if (directory == 0) return 0;
  auto* segment = pool_at<SegmentRecord>(pool, unit);
  segment->directory = directory;
  segment->start = start;
  segment->bytes = bytes;
  return push<SegmentRecord>(pool, head, unit) ? unit : 0;
}

bool has_cell(const Pool& pool, uint32_t directory, uint64_t index) noexcept {
  const uint64_t unit = directory + (index >> (kDirectoryShift + kSlotShift));
  if (directory == 0 || unit > UINT32_MAX || !pool_holds(pool, static_cast<uint32_t>(unit), 1)) return false;
  const uint32_t block = __atomic_load_n(
      pool_at<uint32_t>(pool, static_cast<uint32_t>(unit)) + ((index >> kDirectoryShift) & (kFanOut - 1)),
      __ATOMIC_ACQUIRE);
  if (!pool_holds(pool, block, kBlockUnits)) return false;
  const uint32_t* line = pool_at<uint32_t>(pool, block) + ((index >> kLeafShift) & (kFanOut - 1));
  return pool_holds(pool, __atomic_load_n(line, __ATOMIC_ACQUIRE), kLeafUnits);
}

uint64_t segment_units(uint64_t bytes) noexcept {
  constexpr uint64_t kLongestPath = 4096 / kUnitBytes + 1;
  return directory_units(bytes) + 1 + kRecordUnits + kLongestPath;
}

uint32_t add_process(const ProfileFile& file, int32_t pid, int32_t parent, std::string_view comm,
                     std::string_view engine) noexcept {
  Pool pool = file.pool();
  FileHeader& header = file.header();
  bool together = __atomic_fetch_add(&header.process_count, 1, __ATOMIC_RELAXED) >= kMostProcesses;
  if (together) {  // the newest record was made for all the rest; a race makes two, which only shows as two
                   // rows
    uint32_t newest = __atomic_load_n(&header.processes, __ATOMIC_ACQUIRE);
    if (pool_holds(pool, newest, kRecordUnits) &&
        pool_at<ProcessRecord>(pool, newest)->note == ProcessNote::kTogether)
      return newest;
    comm = "(others)";
    pid = parent = 0;
  }
  uint32_t unit = pool_take(pool, kRecordUnits);
  if (unit == 0) return 0;
  auto* process = pool_at<ProcessRecord>(pool, unit);
  process->pid = pid;
  process->parent = parent;
  process->note = together ? ProcessNote::kTogether : ProcessNote::kNone;
  if (!engine.empty()) process->flags = kProcessObserved;
  process->started_ns = monotonic_ns();
  rename_process(process, comm);
  memcpy(process->engine, engine.data(), engine.size() < sizeof process->engine ? engine.size() : 0);
  return push<ProcessRecord>(pool, &header.processes, unit) ? unit : 0;
}

void rename_process(ProcessRecord* process, std::string_view comm) noexcept {
  char name[sizeof process->comm] = {};
  memcpy(name, comm.data(), comm.size() < sizeof name ? comm.size() : sizeof name);
  memcpy(process->comm, name, sizeof name);
}

Region tree_region(const Pool& pool, uint64_t low, uint64_t last, uint32_t segment,
                   uint64_t position) noexcept {
  const auto* record = pool_at<SegmentRecord>(pool, segment);
  Region region{};
  region.low = low;
  region.last = last;
  region.rule.origin = low;
  region.rule.cells = last - low + 1;
  region.rule.family = PCTALLY_BIN_SHIFT;
  region.kind = CellKind::kTree;
  region.directory = record->directory;
  region.segment = segment;
  region.tree_bias = position - record->start;
  return region;
}

}  // namespace pctally
