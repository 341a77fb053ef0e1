// Call paths on their way from the program to the recorder: slots in the profile file.
//
//   states          slot (512 bytes)
//   u32 per slot    ticks, process, program, end, next slot  --->  frames, innermost first
//
//  1. A slot is free (state 0) or a process's: its state is the unit of the process's record.
//  2. A path that needs more than one slot goes on in slots of the same process.
//  3. When all of a path is written its first slot becomes ready. The recorder counts it and frees its slots.
//  4. Who finds no free slot within kMostAttempts adds its ticks to `no_slot`: a path without room.
//  5. Slots of a process that was killed half-way, or executed another program, stay taken until the recorder
//     finds that it is gone, or that its pid has a newer record.
//
// No copy of a stack is in them: addresses of code alone.
#pragma once
#include "tick/pool.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {

struct PathSlotFrame {
  uint64_t place;     ///< as PathFrame's; or an address, with kAddress, in code that the process did not know
  uint64_t function;  ///< the function's first byte, likewise
  static constexpr uint64_t kAddress = uint64_t{1} << 63;
};

inline constexpr uint32_t kFramesPerSlot = 30;
inline constexpr uint32_t kMostSlotsOfPath = kMostFrames / kFramesPerSlot + 1;
inline constexpr uint32_t kSlotReady = uint32_t{1} << 31;

struct PathSlot {
  uint64_t ticks;    ///< of the first slot, as the next three
  uint32_t process;  ///< unit of the ProcessRecord
  uint32_t program;  ///< unit of the SegmentRecord that holds the program's entry point; 0: not known
  PathEnd end;
  uint8_t by_table;  ///< of the first slot, too; 1: the innermost frame's caller was found by an unwind table
  uint8_t unused[2];
  uint32_t frames;  ///< in this slot
  uint32_t next;    ///< slot the path goes on in, plus 1; 0: none
  uint32_t unused2;
  PathSlotFrame frame[kFramesPerSlot];
};
static_assert(sizeof(PathSlot) == 512, "shared-memory layout");
inline constexpr uint32_t kUnitsPerSlot = sizeof(PathSlot) / kUnitBytes;
inline constexpr uint32_t kStatesPerUnit = kUnitBytes / sizeof(uint32_t);

struct PathSlotsHead {
  uint32_t states;  ///< first unit of the states
  uint32_t slots;   ///< first unit of the slots
  uint32_t count;   ///< a power of two
  uint32_t next;    ///< where the next search for a free one begins
  uint64_t no_slot;
  uint32_t one_frame;  ///< 1: a path is the place of the tick alone; no stack is read
  uint8_t unused[36];
};
static_assert(sizeof(PathSlotsHead) == kUnitBytes, "shared-memory layout");

/// The slots as this process has them mapped. A value.
struct PathSlots {
  PathSlotsHead* head = nullptr;  ///< null: there are none
  uint32_t* states = nullptr;
  PathSlot* slots = nullptr;
  uint32_t count = 0;  ///< a private copy
};

/// The slots whose head is at a unit; none if it names what is not in the pool.
inline PathSlots path_slots_at(const Pool& pool, uint32_t unit) noexcept {
  constexpr uint32_t kMost = 1 << 16;
  PathSlots found;
  if (!pool_holds(pool, unit, 1)) return found;
  auto* head = pool_at<PathSlotsHead>(pool, unit);
  const uint32_t count = head->count, states = head->states, slots = head->slots;
  if (count < kStatesPerUnit || count > kMost || (count & (count - 1)) != 0) return found;
  if (!pool_holds(pool, states, count / kStatesPerUnit) || !pool_holds(pool, slots, count * kUnitsPerSlot))
    return found;
  return {head, pool_at<uint32_t>(pool, states), pool_at<PathSlot>(pool, slots), count};
}

/// Index of a slot that is `owner`'s from now on, empty; `count` if none is free. Any thread, signal
/// handler or process.
inline uint32_t take_path_slot(const PathSlots& slots, uint32_t owner) noexcept {
  uint32_t index = __atomic_fetch_add(&slots.head->next, 1, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0; attempt < kMostAttempts; ++attempt, ++index) {
    uint32_t* state = &slots.states[index & (slots.count - 1)];
    uint32_t free = 0;
    if (__atomic_load_n(state, __ATOMIC_RELAXED) != 0 ||
        !__atomic_compare_exchange_n(state, &free, owner, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    PathSlot* slot = &slots.slots[index & (slots.count - 1)];
    slot->frames = slot->next = 0;
    return index & (slots.count - 1);
  }
  return slots.count;
}

}  // namespace pctally
