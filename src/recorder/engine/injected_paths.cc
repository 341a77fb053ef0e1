#include "recorder/engine/injected_paths.h"

#include <algorithm>

#include "histfile/chain.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

constexpr uint8_t kPatience = 50;            ///< drains until an unfinished slot's process is looked for
constexpr uint32_t kMostSegments = 1 << 20;  ///< of all objects

bool is_segment(const Pool& pool, uint64_t place) {
  return pool_holds(pool, PathPlace::segment(place), sizeof(SegmentRecord) / kUnitBytes);
}

std::string text_at(const Pool& pool, uint32_t unit) {
  if (!pool_holds(pool, unit, 1)) return {};
  const auto* record = pool_at<StringRecord>(pool, unit);
  const uint32_t bytes = std::min(__atomic_load_n(&record->bytes, __ATOMIC_RELAXED), uint32_t{4096});
  if (!pool_holds(pool, unit, (sizeof *record + bytes + kUnitBytes - 1) / kUnitBytes)) return {};
  return {reinterpret_cast<const char*>(record + 1), bytes};
}

/// A program that the process has executed since, or a process that got its pid, has a record of its own. The
/// newest comes first.
bool has_newer_record(const ProfileFile& file, uint32_t process, int32_t pid) {
  const uint32_t newest = for_each_process(
      file, kMostProcessRecords,
      [&](const ProcessRecord& record, uint32_t unit) { return unit == process || record.pid == pid; });
  return newest != 0 && newest != process;
}

bool is_gone(const ProfileFile& file, uint32_t process) {
  const Pool pool = file.pool();
  if (!pool_holds(pool, process, sizeof(ProcessRecord) / kUnitBytes)) return true;
  const int32_t pid = pool_at<ProcessRecord>(pool, process)->pid;
  return pid <= 0 || !has_process(pid) || has_newer_record(file, process, pid);
}

}  // namespace

InjectedPaths::InjectedPaths(ProfileFile* file)
    : file_(file), slots_(path_slots(*file)), counter_(file), scopes_(file), turns_(slots_.count) {}

bool InjectedPaths::take() {
  slots_per_path_ = 2;
  for (uint32_t index = 0; index < slots_.count; ++index) {
    const uint32_t state = __atomic_load_n(&slots_.states[index], __ATOMIC_ACQUIRE);
    if ((state & kSlotReady) != 0)
      take_path(index);
    else if (state != 0 && ++turns_[index] >= kPatience)
      free_stuck(index, state);
    else if (state == 0)
      turns_[index] = 0;
  }
  return std::any_of(taken_frames_.begin(), taken_frames_.end(), [](const PathSlotFrame& frame) {
    return ((frame.place | frame.function) & PathSlotFrame::kAddress) != 0;
  });
}

/// Once only: each slot is copied, then free.
void InjectedPaths::take_path(uint32_t first) {
  const PathSlot& head = slots_.slots[first];
  PathEnd said;
  __atomic_load(&head.end, &said, __ATOMIC_RELAXED);
  const PathEnd end = static_cast<unsigned>(said) < kPathEnds ? said : PathEnd::kDoubtful;
  Taken path{head.ticks, head.process, head.program, end, head.by_table == 1, taken_frames_.size(), 0};
  uint32_t index = first;
  for (uint32_t taken = 1; taken <= kMostSlotsOfPath; ++taken) {
    slots_per_path_ = std::max(slots_per_path_, taken);
    const PathSlot slot = slots_.slots[index];
    taken_frames_.insert(taken_frames_.end(), slot.frame, slot.frame + std::min(slot.frames, kFramesPerSlot));
    turns_[index] = 0;
    __atomic_store_n(&slots_.states[index], 0, __ATOMIC_RELEASE);
    if (slot.next == 0 || slot.next > slots_.count) break;
    index = slot.next - 1;
  }
  path.count = taken_frames_.size() - path.first;
  taken_.push_back(path);
}

void InjectedPaths::count(const PlaceOf& place_of) {
  has_found_segments_ = false;
  for (const Taken& path : taken_) {
    const PathEnd end = place_frames(path, place_of);
    counter_.count(scope_of(path.program), frames_, end, path.ticks);
  }
  taken_.clear();
  taken_frames_.clear();
  const uint64_t no_slot = load_relaxed(&slots_.head->no_slot);
  if (no_slot > no_slot_) counter_.count(0, {}, PathEnd::kNoRoom, no_slot - no_slot_);
  no_slot_ = std::max(no_slot_, no_slot);
}

/// A process that was killed, or executed another program, half-way through a path.
void InjectedPaths::free_stuck(uint32_t index, uint32_t process) {
  turns_[index] = 0;
  if (is_gone(*file_, process)) __atomic_store_n(&slots_.states[index], 0, __ATOMIC_RELEASE);
}

/// The scope of the program that has its entry point in that segment.
uint32_t InjectedPaths::scope_of(uint32_t program) {
  if (const auto known = scope_by_segment_.find(program); known != scope_by_segment_.end())
    return known->second;
  if (program != 0 && !has_found_segments_) find_segments();
  const auto found = object_by_segment_.find(program);
  ObjectIdentity identity;
  if (found == object_by_segment_.end()) {
    identity.path = "(unknown)";
    return scopes_.scope_of(identity);
  }
  const Pool pool = file_->pool();
  const auto& object = *pool_at<ObjectRecord>(pool, found->second);
  const std::string path = text_at(pool, object.path);
  uint8_t build_id[sizeof object.build_id];
  std::copy(std::begin(object.build_id), std::end(object.build_id), build_id);
  identity.path = path;
  identity.device = object.device;
  identity.inode = object.inode;
  identity.build_id_bytes = std::min<uint32_t>(object.build_id_bytes, sizeof build_id);
  identity.build_id = build_id;
  return scope_by_segment_[program] = scopes_.scope_of(identity);
}

/// Finds the segments of all objects. A chain that leads back to itself ends at the bound.
void InjectedPaths::find_segments() {
  const Pool pool = file_->pool();
  uint32_t left = kMostSegments;
  const auto is_last_step = [&left] {
    left -= left == 0 ? 0 : 1;
    return left == 0;
  };
  object_by_segment_.clear();
  walk_chain<ObjectRecord>(
      pool, &file_->header().objects, left, [&](const ObjectRecord& object, uint32_t unit) {
        walk_chain<SegmentRecord>(pool, &object.segments, left, [&](const SegmentRecord&, uint32_t segment) {
          object_by_segment_.try_emplace(segment, unit);
          return is_last_step();
        });
        return is_last_step();
      });
  has_found_segments_ = true;
}

bool InjectedPaths::add_frame(uint32_t process, const PathSlotFrame& frame, const PlaceOf& place_of) {
  const auto known = [&](uint64_t place) {
    if ((place & PathSlotFrame::kAddress) != 0) return place_of(process, place & ~PathSlotFrame::kAddress);
    return is_segment(file_->pool(), place) ? place : 0;
  };
  const uint64_t place = known(frame.place);
  const uint64_t function = frame.function == frame.place ? place : known(frame.function);
  if (place == 0) return false;
  frames_.push_back({place, function == 0 ? place : function});
  return true;
}

/// Up to the first frame that lies in no code: how it ends, then. What a table led to is no code that is
/// known; what a frame pointer led to was no caller. The innermost frame has its function as its place, so
/// that the two do not tell.
PathEnd InjectedPaths::place_frames(const Taken& path, const PlaceOf& place_of) {
  frames_.clear();
  bool by_table = true;  // of what led to the next frame
  for (size_t i = path.first; i < path.first + path.count; ++i) {
    const PathSlotFrame& frame = taken_frames_[i];
    if (!add_frame(path.process, frame, place_of))
      return by_table ? PathEnd::kUnknownMapping : PathEnd::kNoUnwindTable;
    by_table = i == path.first ? path.by_table : frame.function != frame.place;
  }
  return path.end;
}

}  // namespace pctally
