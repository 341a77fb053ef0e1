// Ticks whose pc lay in no known region at the tick, kept until somebody outside the interrupt can look the
// mapping up (a library loaded with dlopen, code a JIT has just written). Many writers, one reader; a
// writer never waits.
#pragma once
#include "tick/pool.h"
#include "tick/wide_counter.h"

namespace pctally {

struct DeferredTick {
  uint64_t pc;
  uint64_t weight;
  uint32_t process;  ///< unit of the process record
  uint32_t ready;    ///< deferred_stamp() of its claim once the other fields are valid
  uint64_t end;      ///< 0; of a mark (weight 0), that the process has unloaded a library: [pc, end)
};
static_assert(sizeof(DeferredTick) == 32, "shared-memory layout");

/// The counts go round at 2^32: a word is what every machine can change atomically.
struct DeferredRing {
  uint32_t claimed;  ///< slots ever claimed by writers
  uint32_t unused0;
  uint32_t drained;  ///< slots ever released by the reader
  uint32_t unused1;
  uint64_t slots;  ///< capacity, a power of two
  uint64_t unused;
};
static_assert(sizeof(DeferredRing) == 32, "shared-memory layout");

/// The slots lie directly behind the ring's own fields.
inline DeferredTick* deferred_slots(DeferredRing* ring) noexcept {
  return reinterpret_cast<DeferredTick*>(ring + 1);
}

/// What a finished slot carries: never 0, and another value each time round, so that a writer that was given
/// up and finishes late cannot pass for the one that has its slot now.
inline uint32_t deferred_stamp(uint32_t claim) noexcept { return claim << 1 | 1; }

/// False when the ring is full, or others keep taking the next slot. Adds the weight to *booked before the
/// reader can see the tick, so that what has been resolved never exceeds what was deferred. Any thread,
/// signal handler or process.
inline bool defer_tick(DeferredRing* ring, uint64_t slots, uint64_t pc, uint64_t weight, uint32_t process,
                       uint64_t* booked, uint64_t end = 0) noexcept {
  uint32_t drained = __atomic_load_n(&ring->drained, __ATOMIC_ACQUIRE);
  uint32_t claimed = __atomic_load_n(&ring->claimed, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0;; ++attempt) {
    if (claimed - drained >= slots || attempt == kMostAttempts) return false;
    if (__atomic_compare_exchange_n(&ring->claimed, &claimed, claimed + 1, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      break;
  }
  DeferredTick* slot = deferred_slots(ring) + (claimed & (slots - 1));
  slot->pc = pc;
  slot->weight = weight;
  slot->process = process;
  slot->end = end;
  add_relaxed(booked, weight);
  __atomic_store_n(&slot->ready, deferred_stamp(claimed), __ATOMIC_RELEASE);
  return true;
}

}  // namespace pctally
