// The shared pool of 64-byte units that the recorder's cells are taken from, by an atomic bump,
// inside the tick.
//
//   unit 0 is never handed out, so index 0 means "none".
//   used   next unit to hand out; only grows          limit  first unit that must not be touched yet
//
// Only memory below `limit` is backed by allocated disk blocks: nobody stores beyond it, so a full disk can
// never become a SIGBUS in the program. The recorder alone raises it, after posix_fallocate.
#pragma once
#include <stdint.h>

namespace pctally {

inline constexpr uint64_t kUnitBytes = 64;

/// Attempts at a compare-and-swap on a shared word before a tick gives up. Each one that fails means that
/// another tick succeeded, so this many in a row do not happen unless somebody keeps changing the word.
inline constexpr uint32_t kMostAttempts = 64;

struct PoolHead {
  uint32_t used;
  uint32_t limit;
};
static_assert(sizeof(PoolHead) == 8, "shared-memory layout");

/// A view of the pool in this process. A value.
struct Pool {
  unsigned char* base = nullptr;  ///< address of unit 0
  PoolHead* head = nullptr;
  uint32_t mapped =
      ~0u;  ///< units this process has mapped; where address space is short fewer than there are
};

/// Units, from 0, that may be touched.
inline uint32_t pool_units(const Pool& pool) noexcept {
  const uint32_t limit = __atomic_load_n(&pool.head->limit, __ATOMIC_ACQUIRE);
  return limit > pool.mapped ? pool.mapped : limit;
}

/// True if `units` units from `first` may be touched.
inline bool pool_holds(const Pool& pool, uint32_t first, uint32_t units) noexcept {
  const uint32_t limit = pool_units(pool);
  return first != 0 && first < limit && units <= limit - first;
}

/// Takes `units` consecutive zeroed units; 0 when the pool is used up. Any thread, signal handler or process.
inline uint32_t pool_take(const Pool& pool, uint32_t units) noexcept {
  uint32_t first = __atomic_load_n(&pool.head->used, __ATOMIC_RELAXED);
  for (uint32_t attempt = 0; attempt < kMostAttempts; ++attempt) {
    // No add that is taken back: in between, `used` would promise others units that are not free.
    if (!pool_holds(pool, first, units)) return 0;
    if (__atomic_compare_exchange_n(&pool.head->used, &first, first + units, true, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
      return first;
  }
  return 0;
}

/// Address of a unit. REQUIRES: pool_holds().
template <class T>
inline T* pool_at(const Pool& pool, uint32_t unit) noexcept {
  return reinterpret_cast<T*>(pool.base + kUnitBytes * unit);
}

}  // namespace pctally
