#include "process/address_space.h"

#include <algorithm>

#include "process/proc_maps.h"

namespace pctally {
namespace {

constexpr uint64_t kSegmentStep = uint64_t{64}
                                  << 10;  ///< so that a file mapped page by page has few segments
constexpr size_t kMostFresh = 256;

/// Longer texts that wait for their first tick get segments of that length where ticks are.
constexpr uint64_t kMostSegmentBytes = uint64_t{4} << 20;

TextRange rounded(uint64_t position, uint64_t bytes) noexcept {
  const uint64_t start = position & ~(kSegmentStep - 1);
  return {start, ((position - start) + bytes + kSegmentStep - 1) & ~(kSegmentStep - 1)};
}

/// What a segment covers that is made for a tick at `at`.
TextRange segment_range(uint64_t position, uint64_t bytes, uint64_t at) noexcept {
  if (bytes > kMostSegmentBytes) {
    const uint64_t window = at & ~(kMostSegmentBytes - 1);
    const uint64_t end = std::min(position + bytes, window + kMostSegmentBytes);
    position = std::max(position, window);
    bytes = end - position;
  }
  return rounded(position, bytes);
}

/// Regions are cut, never moved: where a region starts later, its first byte has a later position too.
Region upper_part(Region region, uint64_t low) noexcept {
  region.tree_bias += low - region.low;
  region.low = low;
  region.rule.origin = low;
  region.rule.cells = region.last - low + 1;
  return region;
}

Region lower_part(Region region, uint64_t last) noexcept {
  region.last = last;
  region.rule.cells = last - region.low + 1;
  return region;
}

/// A huge text's directory is one piece. A program cannot make room: before it takes the last of it, it
/// leaves a text to the recorder, and its ticks there are put aside. 0: so it is, or there is no more room.
uint32_t segment_of(ProfileFile* file, const ObjectIdentity& object, const TextRange& text) noexcept {
  const uint64_t units = segment_units(text.bytes);
  const bool has_room = file->can_spare(units) || file->make_room(units);
  const bool may_add = has_room || file->is_own();
  const uint32_t record = find_or_add_object(*file, object);
  if (record == 0) return 0;
  return may_add ? find_or_add_segment(*file, record, text.start, text.bytes)
                 : find_segment(*file, record, text.start, text.bytes);
}

}  // namespace

ObjectIdentity private_object(int32_t pid) noexcept {
  ObjectIdentity object;
  object.kind = ObjectKind::kPrivate;
  object.path = "//anon";
  object.owner = pid;
  return object;
}

ObjectIdentity unknown_object(std::string_view reason) noexcept {
  ObjectIdentity object;
  object.path = reason;
  return object;
}

ObjectIdentity kernel_object() noexcept {
  ObjectIdentity object;
  object.kind = ObjectKind::kKernel;
  object.path = "[kernel]";
  return object;
}

/// Index of the first region that ends at `address` or later.
size_t AddressSpace::first_from(uint64_t address) const noexcept {
  const Region* found = std::partition_point(
      regions_.begin(), regions_.end(), [address](const Region& region) { return region.last < address; });
  return static_cast<size_t>(found - regions_.begin());
}

bool AddressSpace::is_free(uint64_t low, uint64_t last) const noexcept {
  size_t next = first_from(low);
  if (next < regions_.size() && regions_[next].low <= last) return false;
  return std::none_of(fresh_.begin(), fresh_.end(),
                      [low, last](const Region& region) { return region.last >= low && region.low <= last; });
}

/// Puts the fresh regions in their places, from the top down.
bool AddressSpace::merge() noexcept {
  size_t old = regions_.size(), fresh = fresh_.size();
  if (fresh == 0) return true;
  if (!regions_.resize(old + fresh)) return false;
  std::sort(fresh_.begin(), fresh_.end(), [](const Region& a, const Region& b) { return a.low < b.low; });
  for (size_t to = old + fresh; fresh > 0;)
    regions_[--to] =
        old > 0 && regions_[old - 1].low > fresh_[fresh - 1].low ? regions_[--old] : fresh_[--fresh];
  fresh_.clear();
  return true;
}

bool AddressSpace::cut(uint64_t low, uint64_t last) noexcept {
  for (size_t i = first_from(low); i < regions_.size() && regions_[i].low <= last;) {
    Region old = regions_[i];
    regions_.erase(i);
    if (old.low < low && !regions_.insert(i++, lower_part(old, low - 1))) return false;
    if (old.last > last && !regions_.insert(i++, upper_part(old, last + 1))) return false;
  }
  return true;
}

void AddressSpace::unmap_files(uint64_t start, uint64_t end) noexcept {
  if (end <= start || is_free(start, end - 1) || !merge()) return;
  bool found = false;
  for (size_t i = first_from(start); i < regions_.size() && regions_[i].low < end;) {
    Region old = regions_[i];
    if (!old.without_file && !cut(std::max(start, old.low), std::min(end - 1, old.last))) return;
    found = found || !old.without_file;
    i = first_from(old.last + 1);
    if (old.last == UINT64_MAX) break;
  }
  if (found) ++replacements_;
}

bool AddressSpace::insert(const Region& region) noexcept {
  return regions_.insert(first_from(region.low), region);
}

/// Puts it in its place. Counts a replacement if text of a file there is not the same at the same place.
template <class IsSame>
bool AddressSpace::put(const Region& region, IsSame&& is_same) noexcept {
  if (is_free(region.low, region.last))
    return fresh_.push_back(region) && (fresh_.size() < kMostFresh || merge());
  if (!merge()) return false;
  for (size_t i = first_from(region.low); i < regions_.size() && regions_[i].low <= region.last; ++i) {
    if (regions_[i].without_file || is_same(regions_[i])) continue;
    ++replacements_;
    break;
  }
  return cut(region.low, region.last) && insert(region);
}

uint32_t AddressSpace::map(ProfileFile& file, uint64_t start, uint64_t end, uint64_t position,
                           const ObjectIdentity& object) noexcept {
  if (end <= start) return 0;
  const uint32_t segment = segment_of(&file, object, rounded(position, end - start));
  if (segment == 0) {
    if (merge()) (void)cut(start, end - 1);
    return 0;
  }
  const Region region = tree_region(file.pool(), start, end - 1, segment, position);
  const bool done = put(region, [&region](const Region& old) {
    return old.directory == region.directory && old.tree_bias - old.low == region.tree_bias - region.low;
  });
  return done ? segment : 0;
}

bool AddressSpace::map_later(const ProfileFile& file, uint64_t start, uint64_t end, uint64_t position,
                             uint32_t object, std::span<const uint32_t> segments) noexcept {
  if (end <= start) return false;
  Region region{};
  region.low = start;
  region.last = end - 1;
  region.rule.origin = start;
  region.rule.cells = end - start;
  region.rule.family = PCTALLY_BIN_SHIFT;
  region.kind = CellKind::kTree;
  region.segment = object;
  region.waits = true;
  region.tree_bias = position;
  return put(region, [&](const Region& old) {
    uint64_t at = old.tree_bias - old.low;
    if (!old.waits) at += pool_at<SegmentRecord>(file.pool(), old.segment)->start;
    if (at != position - start) return false;
    return old.waits ? old.segment == object
                     : std::find(segments.begin(), segments.end(), old.segment) != segments.end();
  });
}

WaitingText AddressSpace::waiting_at(uint64_t pc) noexcept {
  if (!merge()) return {};
  const size_t at = first_from(pc);
  if (at >= regions_.size() || regions_[at].low > pc || !regions_[at].waits) return {};
  const Region& region = regions_[at];
  return {region.segment, segment_range(region.tree_bias, region.last - region.low + 1,
                                        region.tree_bias + (pc - region.low))};
}

void AddressSpace::give_segment(const ProfileFile& file, uint64_t pc, uint32_t segment,
                                const TextRange& range) noexcept {
  const size_t at = first_from(pc);
  Region region = regions_[at];
  const uint64_t low = region.low, last = region.last;
  if (region.tree_bias < range.start) region = upper_part(region, low + (range.start - region.tree_bias));
  const uint64_t covered = range.start + range.bytes - region.tree_bias;
  if (region.last - region.low >= covered) region = lower_part(region, region.low + covered - 1);
  const uint64_t reach = region.reach;
  region = tree_region(file.pool(), region.low, region.last, segment, region.tree_bias);
  region.reach = reach;
  if (region.low == low && region.last == last) {
    regions_[at] = region;
  } else if (cut(region.low, region.last)) {
    (void)insert(region);  // without memory for it its ticks are in no known mapping
  }
}

uint32_t AddressSpace::map(ProfileFile& file, const ExecutableMapping& mapping) noexcept {
  uint64_t position = mapping.object.kind == ObjectKind::kVdso ? 0 : mapping.file_offset;
  return map(file, mapping.start, mapping.end, position, mapping.object);
}

bool AddressSpace::map_window(ProfileFile& file, uint64_t pc, const ObjectIdentity& object) noexcept {
  uint64_t low = pc & ~(kWindowBytes - 1), last = low + (kWindowBytes - 1);
  uint32_t record = find_or_add_object(file, object);
  uint32_t segment = record == 0 ? 0 : find_or_add_segment(file, record, low, kWindowBytes);
  if (segment == 0 || !merge()) return false;
  for (const Region& region : regions_) {  // what is already mapped stays: the window is the gap around pc
    if (region.last < pc && region.last >= low) low = region.last + 1;
    if (region.low > pc && region.low <= last) last = region.low - 1;
  }
  Region window = tree_region(file.pool(), low, last, segment, low);
  window.without_file = true;
  return insert(window);
}

bool AddressSpace::map_process(ProfileFile& file, int32_t pid, uint64_t pc) noexcept {
  ProcMaps maps(pid);
  bool without_file = false;
  bool readable = maps.visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind != ObjectKind::kPrivate) {
      map(file, mapping);
    } else if (pc >= mapping.start && pc < mapping.end) {
      without_file = true;
    }
  });
  if (without_file) map_window(file, pc, private_object(pid == 0 ? getpid() : pid));
  return readable;
}

bool AddressSpace::copy_from(AddressSpace& other) noexcept {
  if (!other.merge()) return false;
  fresh_.clear();
  return regions_.assign(std::span<const Region>(other.regions_.data(), other.regions_.size()));
}

RegionTable AddressSpace::table(const ProfileFile& file, uint32_t process) noexcept {
  RegionTable table{};
  (void)merge();  // without memory for it their ticks are outside
  seal_regions(regions_.data(), static_cast<uint32_t>(regions_.size()));
  table.regions = regions_.data();
  table.count = static_cast<uint32_t>(regions_.size());
  table.process = process;
  table.pool = file.pool();
  table.ledger = &file.header().ledger;
  if (process != 0) table.process_ticks = &pool_at<ProcessRecord>(table.pool, process)->ticks;
  table.stopped = &file.header().ended;
  return table;
}

}  // namespace pctally
