#include "process/deferred_resolver.h"

#include "tick/tick.h"

namespace pctally {
namespace {

constexpr unsigned kPatience = 50;  ///< turns until an unfinished slot's writer counts as dead
constexpr uint64_t kNearby =
    64 << 10;  ///< a look-up that failed is not repeated for its neighbours in this turn

bool knows(const RegionTable& table, uint64_t pc) noexcept {
  uint64_t index = 0;
  return find_region(table, pc, &index) != nullptr;
}

/// Reads the mappings again, at most once per turn for each 64 KiB of addresses: a pc that is in none of them
/// even so belongs nowhere.
void learn(ProfileFile* file, KnownProcess* process, uint64_t pc) noexcept {
  if (!process->readable) return;
  if (process->fresh && pc - process->looked_up < kNearby) return;
  process->fresh = true;
  process->looked_up = pc & ~(kNearby - 1);
  file->make_room(segment_units(kNearby));
  process->space.map_process(*file, process->pid, pc);
}

}  // namespace

void resolve_tick(ProfileFile* file, KnownProcess* process, const DeferredTick& deferred) noexcept {
  if (!knows(process->space.table(*file, 0), deferred.pc)) learn(file, process, deferred.pc);
  RegionTable table = process->space.table(*file, 0);
  resolve(table, deferred.pc, deferred.weight);
}

uint64_t resolve_place(ProfileFile* file, KnownProcess* process, uint64_t address) noexcept {
  if (!knows(process->space.table(*file, 0), address)) learn(file, process, address);
  const RegionTable table = process->space.table(*file, 0);
  uint64_t index = 0;
  const Region* region = find_region(table, address, &index);
  return region == nullptr ? 0 : PathPlace::code(region->segment, index + region->tree_bias);
}

bool take_deferred(ProfileFile* file, ResolverState* state, bool final, DeferredTick* deferred) noexcept {
  DeferredRing* ring = file->deferred();
  if (ring == nullptr) return false;
  for (uint64_t step = 0; step < kDeferredSlots; ++step) {
    uint32_t drained = __atomic_load_n(&ring->drained, __ATOMIC_RELAXED);
    uint32_t waiting = __atomic_load_n(&ring->claimed, __ATOMIC_ACQUIRE) - drained;
    if (waiting == 0 || waiting > kDeferredSlots) return false;  // more: the ring has been damaged
    DeferredTick* slot = deferred_slots(ring) + (drained & (kDeferredSlots - 1));
    bool ready = __atomic_load_n(&slot->ready, __ATOMIC_ACQUIRE) == deferred_stamp(drained);
    if (!ready && !final) {
      if (state->stuck_at != drained) *state = {drained, 0};
      if (++state->stuck_turns < kPatience) return false;
    }
    *deferred = *slot;
    __atomic_store_n(&ring->drained, drained + 1, __ATOMIC_RELEASE);
    if (ready)
      return true;  // otherwise its tick, booked before the slot was filled, stays unresolved: outside
  }
  return false;
}

}  // namespace pctally
