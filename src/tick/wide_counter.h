// 64-bit counters that several threads and processes raise, on every machine.
//
// A machine with 64-bit atomics raises a counter by one instruction. 32-bit powerpc has none, and the C
// library's substitute takes a lock, which a signal handler must not do. There a counter is two words: an
// atomic add raises the lower word, and whoever carries it past its end adds one to the upper word. Nothing
// is lost, and the sum is exact once every add has returned. A reader between the two adds sees a value that
// is 2^32 too small; a process killed between them leaves it so. This happens at most once in 2^32 ticks.
#pragma once
#include <stdint.h>

#if __SIZEOF_POINTER__ == 8 || defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8)
#define PCTALLY_WIDE_ATOMICS 1
#else
#define PCTALLY_WIDE_ATOMICS 0
#endif

namespace pctally {

#if PCTALLY_WIDE_ATOMICS

inline void add_relaxed(uint64_t* field, uint64_t amount) noexcept {
  __atomic_fetch_add(field, amount, __ATOMIC_RELAXED);
}
inline uint64_t load_relaxed(const uint64_t* field) noexcept {
  return __atomic_load_n(field, __ATOMIC_RELAXED);
}
/// For fields with one writer.
inline void store_relaxed(uint64_t* field, uint64_t value) noexcept {
  __atomic_store_n(field, value, __ATOMIC_RELAXED);
}

#else

/// The words of a counter in this machine's order.
struct CounterWords {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  uint32_t high, low;
#else
  uint32_t low, high;
#endif
} __attribute__((may_alias));

inline void add_relaxed(uint64_t* field, uint64_t amount) noexcept {
  auto* words = reinterpret_cast<CounterWords*>(field);
  auto low = static_cast<uint32_t>(amount), high = static_cast<uint32_t>(amount >> 32);
  uint32_t before = __atomic_fetch_add(&words->low, low, __ATOMIC_RELAXED);
  if (before + low < before) ++high;
  if (high != 0) __atomic_fetch_add(&words->high, high, __ATOMIC_RELAXED);
}
inline uint64_t load_relaxed(const uint64_t* field) noexcept {
  auto* words = reinterpret_cast<const CounterWords*>(field);
  for (;;) {  // the upper word changes once in 2^32 ticks: never a third turn
    uint32_t high = __atomic_load_n(&words->high, __ATOMIC_ACQUIRE);
    uint32_t low = __atomic_load_n(&words->low, __ATOMIC_ACQUIRE);
    if (high == __atomic_load_n(&words->high, __ATOMIC_RELAXED)) return uint64_t{high} << 32 | low;
  }
}
/// For fields with one writer. Readers may see one new word and one old.
inline void store_relaxed(uint64_t* field, uint64_t value) noexcept {
  auto* words = reinterpret_cast<CounterWords*>(field);
  __atomic_store_n(&words->high, static_cast<uint32_t>(value >> 32), __ATOMIC_RELAXED);
  __atomic_store_n(&words->low, static_cast<uint32_t>(value), __ATOMIC_RELAXED);
}

/// As __atomic_compare_exchange_n, but by the lower words; the upper one is then raised by the difference.
/// Right for whoever adds: that the same lower word stands there again means 2^32 ticks came between, and the
/// sum is the same.
inline bool exchange_if_equal(uint64_t* field, uint64_t* expected, uint64_t desired) noexcept {
  auto* words = reinterpret_cast<CounterWords*>(field);
  auto low = static_cast<uint32_t>(*expected);
  auto high = static_cast<uint32_t>(desired >> 32) - static_cast<uint32_t>(*expected >> 32);
  bool done = __atomic_compare_exchange_n(&words->low, &low, static_cast<uint32_t>(desired), true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  if (!done)
    *expected = load_relaxed(field);
  else if (high != 0)
    __atomic_fetch_add(&words->high, high, __ATOMIC_RELAXED);
  return done;
}

#endif

}  // namespace pctally
