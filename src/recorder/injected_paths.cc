#include "recorder/injected_paths.h"

#include <errno.h>
#include <signal.h>

#include <algorithm>

#include "histfile/chain.h"

namespace pctally {
namespace {

constexpr uint32_t kMostSlotsOfPath = kMostFrames / kFramesPerSlot + 1;
constexpr uint8_t kPatience = 50;  ///< drains until an unfinished slot's process is looked for
constexpr uint32_t kMostObjects = 1 << 20;

bool is_segment(const Pool& pool, uint64_t place) {
  return pool_holds(pool, PathPlace::segment(place), sizeof(SegmentRecord) / kUnitBytes);
}

bool has_segment(const Pool& pool, const ObjectRecord& object, uint32_t segment) {
  return walk_chain<SegmentRecord>(pool, &object.segments, kMostObjects,
                                   [=](const SegmentRecord&, uint32_t unit) { return unit == segment; }) != 0;
}

std::string text_at(const Pool& pool, uint32_t unit) {
  if (!pool_holds(pool, unit, 1)) return {};
  const auto* record = pool_at<StringRecord>(pool, unit);
  const uint32_t bytes = std::min(__atomic_load_n(&record->bytes, __ATOMIC_RELAXED), uint32_t{4096});
  if (!pool_holds(pool, unit, (sizeof *record + bytes + kUnitBytes - 1) / kUnitBytes)) return {};
  return {reinterpret_cast<const char*>(record + 1), bytes};
}

bool is_gone(const Pool& pool, uint32_t process) {
  if (!pool_holds(pool, process, sizeof(ProcessRecord) / kUnitBytes)) return true;
  const int32_t pid = pool_at<ProcessRecord>(pool, process)->pid;
  return pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH);
}

}  // namespace

InjectedPaths::InjectedPaths(ProfileFile* file)
    : file_(file), slots_(path_slots(*file)), counter_(file), scopes_(file), turns_(slots_.count) {}

void InjectedPaths::drain(const PlaceOf& place_of) {
  slots_per_path_ = 2;
  for (uint32_t index = 0; index < slots_.count; ++index) {
    const uint32_t state = __atomic_load_n(&slots_.states[index], __ATOMIC_ACQUIRE);
    if ((state & kSlotReady) != 0)
      count(index, place_of);
    else if (state != 0 && ++turns_[index] >= kPatience)
      free_stuck(index, state);
    else if (state == 0)
      turns_[index] = 0;
  }
  const uint64_t no_slot = load_relaxed(&slots_.head->no_slot);
  if (no_slot > no_slot_) counter_.count(0, {}, PathEnd::kNoRoom, no_slot - no_slot_);
  no_slot_ = std::max(no_slot_, no_slot);
}

/// A process that was killed, or executed another program, half-way through a path.
void InjectedPaths::free_stuck(uint32_t index, uint32_t process) {
  turns_[index] = 0;
  if (is_gone(file_->pool(), process)) __atomic_store_n(&slots_.states[index], 0, __ATOMIC_RELEASE);
}

/// The scope of the program that has its entry point in that segment.
uint32_t InjectedPaths::scope_of(uint32_t program) {
  auto [entry, fresh] = scope_by_segment_.try_emplace(program, 0);
  if (!fresh) return entry->second;
  const Pool pool = file_->pool();
  ObjectIdentity identity;
  std::string path = "(unknown)";
  uint8_t build_id[sizeof ObjectRecord::build_id];
  walk_chain<ObjectRecord>(
      pool, &file_->header().objects, kMostObjects, [&](const ObjectRecord& object, uint32_t) {
        if (program == 0 || !has_segment(pool, object, program)) return false;
        path = text_at(pool, object.path);
        identity.device = object.device;
        identity.inode = object.inode;
        identity.build_id_bytes = std::min<uint32_t>(object.build_id_bytes, sizeof build_id);
        std::copy(std::begin(object.build_id), std::end(object.build_id), build_id);
        identity.build_id = build_id;
        return true;
      });
  identity.path = path;
  return entry->second = scopes_.scope_of(identity);
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

/// Up to the first frame that lies in no code: how it ends, then.
PathEnd InjectedPaths::take_frames(uint32_t process, uint32_t first, PathEnd end, const PlaceOf& place_of) {
  uint32_t index = first;
  bool by_table = true;
  for (uint32_t taken = 0; taken < kMostSlotsOfPath; ++taken) {
    const PathSlot& slot = slots_.slots[index];
    for (uint32_t i = 0; i < std::min(slot.frames, kFramesPerSlot); ++i) {
      const PathSlotFrame frame = slot.frame[i];
      if (!add_frame(process, frame, place_of))
        return by_table ? PathEnd::kUnknownMapping : PathEnd::kNoUnwindTable;
      by_table = frame.function != frame.place;
    }
    if (slot.next == 0 || slot.next > slots_.count) break;
    index = slot.next - 1;
  }
  return end;
}

void InjectedPaths::count(uint32_t first, const PlaceOf& place_of) {
  const PathSlot slot = slots_.slots[first];
  const auto end = static_cast<unsigned>(slot.end) < kPathEnds ? slot.end : PathEnd::kDoubtful;
  frames_.clear();
  const PathEnd found = take_frames(slot.process, first, end, place_of);
  counter_.count(scope_of(slot.program), frames_, found, slot.ticks);
  uint32_t index = first;
  for (uint32_t freed = 1; freed <= kMostSlotsOfPath; ++freed) {
    slots_per_path_ = std::max(slots_per_path_, freed);
    const uint32_t next = slots_.slots[index].next;
    turns_[index] = 0;
    __atomic_store_n(&slots_.states[index], 0, __ATOMIC_RELEASE);
    if (next == 0 || next > slots_.count) break;
    index = next - 1;
  }
}

}  // namespace pctally
