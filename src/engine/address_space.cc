#include "engine/address_space.h"

#include "engine/text_watch.h"

namespace pctally {
namespace {

constexpr uint64_t kSlotBytes = uint64_t{1} << kDirectoryShift;
constexpr uint64_t kWindowBytes = uint64_t{64} << 10;

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

}  // namespace

ObjectIdentity private_object(int32_t pid) noexcept {
  ObjectIdentity object;
  object.kind = ObjectKind::kPrivate;
  object.path = "//anon";
  object.owner = pid;
  return object;
}

ObjectIdentity kernel_object() noexcept {
  ObjectIdentity object;
  object.kind = ObjectKind::kKernel;
  object.path = "[kernel]";
  return object;
}

bool AddressSpace::cut(uint64_t low, uint64_t last) noexcept {
  for (size_t i = 0; i < regions_.size();) {
    Region old = regions_[i];
    if (old.last < low || old.low > last) {
      ++i;
      continue;
    }
    regions_.erase(i);
    if (old.low < low && !regions_.insert(i++, lower_part(old, low - 1))) return false;
    if (old.last > last && !regions_.insert(i++, upper_part(old, last + 1))) return false;
  }
  return true;
}

bool AddressSpace::insert(const Region& region) noexcept {
  size_t at = regions_.size();
  while (at > 0 && regions_[at - 1].low > region.low) --at;
  return regions_.insert(at, region);
}

bool AddressSpace::map(ProfileFile& file, uint64_t start, uint64_t end, uint64_t position,
                       const ObjectIdentity& object) noexcept {
  if (end <= start) return false;
  uint64_t slot_start = position & ~(kSlotBytes - 1);
  uint64_t slot_bytes = ((position - slot_start) + (end - start) + kSlotBytes - 1) & ~(kSlotBytes - 1);
  uint32_t record = find_or_add_object(file, object);
  uint32_t segment = record == 0 ? 0 : find_or_add_segment(file, record, slot_start, slot_bytes);
  if (!cut(start, end - 1) || segment == 0) return false;
  return insert(tree_region(file.pool(), start, end - 1, segment, position));
}

bool AddressSpace::map(ProfileFile& file, const ExecutableMapping& mapping) noexcept {
  uint64_t position = mapping.object.kind == ObjectKind::kVdso ? 0 : mapping.file_offset;
  return map(file, mapping.start, mapping.end, position, mapping.object);
}

bool AddressSpace::map_window(ProfileFile& file, uint64_t pc, const ObjectIdentity& object) noexcept {
  uint64_t low = pc & ~(kWindowBytes - 1), last = low + (kWindowBytes - 1);
  uint32_t record = find_or_add_object(file, object);
  uint32_t segment = record == 0 ? 0 : find_or_add_segment(file, record, low, kWindowBytes);
  if (segment == 0) return false;
  for (const Region& region : regions_) {  // what is already mapped stays: the window is the gap around pc
    if (region.last < pc && region.last >= low) low = region.last + 1;
    if (region.low > pc && region.low <= last) last = region.low - 1;
  }
  return insert(tree_region(file.pool(), low, last, segment, low));
}

bool AddressSpace::map_process(ProfileFile& file, int32_t pid, uint64_t pc) noexcept {
  TextWatch watch(pid);
  bool without_file = false;
  bool readable = watch.visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind != ObjectKind::kPrivate) {
      map(file, mapping);
    } else if (pc >= mapping.start && pc < mapping.end) {
      without_file = true;
    }
  });
  if (without_file) map_window(file, pc, private_object(pid == 0 ? getpid() : pid));
  return readable;
}

bool AddressSpace::copy_from(const AddressSpace& other) noexcept {
  return regions_.assign(std::span<const Region>(other.regions_.data(), other.regions_.size()));
}

RegionTable AddressSpace::table(const ProfileFile& file, uint32_t process) noexcept {
  RegionTable table{};
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
