// Loads and stores of a cell that survive when its memory is gone or read-only: they say so instead.
//
// Each instruction that may fault has an entry {instruction, landing} in the section pctally_faults;
// fault/fault_guard moves the program counter from one to the other. Other machines note a landing before
// they touch the cell (fault_landing.h), which costs some stores. Refuses to wait and to call.
//
// A cell at an address that is no multiple of its width (a buffer at an odd address) is one like any other on
// x86-64, but where it lies in two cache lines it is raised without the lock: that would stop all processors,
// and Linux fines it with a wait of 10 ms and more. Another thread's tick in the same nanosecond may then be
// lost. Elsewhere such a cell is as one whose memory is gone: no atomic instruction takes it.
#pragma once
#include <stdint.h>

#include "tick/wide_counter.h"

#if defined(__x86_64__) || defined(__aarch64__)
#define PCTALLY_GUARDED_CELLS 1
#define PCTALLY_FAULT_TABLE 1
// "?": in the section group of the function around it, if that is in one. Offsets from the
// entry: no relocation.
#define PCTALLY_FAULT_ENTRY(instruction, landing)                          \
  ".pushsection pctally_faults,\"a?\"\n\t.balign 4\n\t.long " #instruction \
  " - .\n\t"                                                               \
  ".long " #landing " - .\n\t.popsection\n\t"
#elif defined(__GNUC__) && !defined(__clang__)
#define PCTALLY_GUARDED_CELLS 1
#define PCTALLY_FAULT_TABLE 0
#include "tick/fault_landing.h"
#else
#define PCTALLY_GUARDED_CELLS 0  // plain atomics: a fault is the program's
#define PCTALLY_FAULT_TABLE 0
#endif

namespace pctally {

/// Every instruction below is in such an entry, as offsets from the entry's own fields.
struct FaultEntry {
  int32_t instruction;
  int32_t landing;
};

/// At an address that is no multiple of the cell's width.
template <class Cell>
inline bool is_odd(const Cell* cell) noexcept {
  return reinterpret_cast<uintptr_t>(cell) % sizeof(Cell) != 0;
}

#if defined(__x86_64__)

/// False if the cell cannot be read. Needs fault/fault_guard installed to say so.
template <class Cell>
inline bool guarded_load(const Cell* cell, Cell* value) noexcept {
  uint32_t fault = 1;
  asm volatile(
      "1: mov %[cell], %[value]\n\t"
      "xor %[fault], %[fault]\n\t"
      "2:\n\t" PCTALLY_FAULT_ENTRY(1b, 2b)
      : [value] "+r"(*value), [fault] "+r"(fault)
      : [cell] "m"(*cell)
      : "cc");
  return fault == 0;
}

inline bool in_two_cache_lines(const void* cell, uint64_t bytes) noexcept {
  return (reinterpret_cast<uintptr_t>(cell) & 63) + bytes > 64;
}

#define PCTALLY_GUARDED_SWAP(prefix)                                                                 \
  asm volatile(                                                                                      \
      "1: " prefix                                                                                   \
      "cmpxchg %[desired], %[cell]\n\t"                                                              \
      "sete %[swapped]\n\t"                                                                          \
      "xor %[fault], %[fault]\n\t"                                                                   \
      "2:\n\t" PCTALLY_FAULT_ENTRY(1b, 2b)                                                           \
      : [cell] "+m"(*cell), [expected] "+a"(*expected), [swapped] "+q"(swapped), [fault] "+r"(fault) \
      : [desired] "r"(desired)                                                                       \
      : "cc")

/// Puts `desired` in place of *expected; where another value is found that goes to *expected and *done
/// stays false. False if the cell cannot be written.
template <class Cell>
inline bool guarded_swap(Cell* cell, Cell* expected, Cell desired, bool* done) noexcept {
  uint32_t fault = 1;
  uint8_t swapped = 0;
  if (in_two_cache_lines(cell, sizeof *cell))
    PCTALLY_GUARDED_SWAP("");
  else
    PCTALLY_GUARDED_SWAP("lock ");
  *done = swapped != 0;
  return fault == 0;
}

#elif defined(__aarch64__)

// suffix h for 16 bits and none for the rest; view w or x of a register.
#define PCTALLY_GUARDED_LOAD(suffix, view)                   \
  asm volatile("1: ldr" suffix " %" view                     \
               "[value], %[cell]\n\t"                        \
               "mov %w[fault], #0\n\t"                       \
               "2:\n\t" PCTALLY_FAULT_ENTRY(1b, 2b)          \
               : [value] "+&r"(*value), [fault] "+&r"(fault) \
               : [cell] "Q"(*cell))
#define PCTALLY_GUARDED_SWAP(suffix, view)                                                          \
  asm volatile("1: ldxr" suffix " %" view                                                           \
               "[found], %[cell]\n\t"                                                               \
               "cmp %" view "[found], %" view                                                       \
               "[expected]\n\t"                                                                     \
               "b.ne 3f\n\t"                                                                        \
               "2: stxr" suffix " %w[busy], %" view                                                 \
               "[desired], %[cell]\n\t"                                                             \
               "3: mov %w[fault], #0\n\t"                                                           \
               "4:\n\t" PCTALLY_FAULT_ENTRY(1b, 4b) PCTALLY_FAULT_ENTRY(2b, 4b)                     \
               : [cell] "+Q"(*cell), [found] "+&r"(found), [busy] "+&r"(busy), [fault] "+&r"(fault) \
               : [expected] "r"(before), [desired] "r"(desired)                                     \
               : "cc")

template <class Cell>
inline bool guarded_load(const Cell* cell, Cell* value) noexcept {
  uint32_t fault = 1;
  if (is_odd(cell)) return false;
  if constexpr (sizeof(Cell) == 2)
    PCTALLY_GUARDED_LOAD("h", "w");
  else if constexpr (sizeof(Cell) == 4)
    PCTALLY_GUARDED_LOAD("", "w");
  else
    PCTALLY_GUARDED_LOAD("", "x");
  return fault == 0;
}

template <class Cell>
inline bool guarded_swap(Cell* cell, Cell* expected, Cell desired, bool* done) noexcept {
  uint32_t fault = 1, busy = 1;
  uint64_t before = *expected, found = 0;
  if constexpr (sizeof(Cell) == 2)
    PCTALLY_GUARDED_SWAP("h", "w");
  else if constexpr (sizeof(Cell) == 4)
    PCTALLY_GUARDED_SWAP("", "w");
  else
    PCTALLY_GUARDED_SWAP("", "x");
  *done = busy == 0;
  *expected = static_cast<Cell>(found);
  return fault == 0;
}

#else

#if !PCTALLY_GUARDED_CELLS
template <class Access>
inline bool land_if_faulted(const void*, Access access) noexcept {
  return access(), true;
}
#endif

template <class Cell>
inline Cell load_cell(const Cell* cell) noexcept {
  if constexpr (sizeof(Cell) == 8)
    return load_relaxed(cell);
  else
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

/// Exchanges the word around it and keeps its other half: riscv has no atomics of 16 bits.
inline bool swap_half(uint16_t* cell, uint16_t* expected, uint16_t desired) noexcept {
  auto at = reinterpret_cast<uintptr_t>(cell);
  auto* word = reinterpret_cast<uint32_t __attribute__((may_alias))*>(at & ~uintptr_t{3});
  bool upper = ((at & 2) != 0) == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
  const unsigned shift = upper ? 16 : 0;
  uint32_t found = __atomic_load_n(word, __ATOMIC_RELAXED);
  uint32_t rest = found & ~(uint32_t{0xffff} << shift);
  uint32_t before = rest | uint32_t{*expected} << shift, after = rest | uint32_t{desired} << shift;
  if (before == found &&
      __atomic_compare_exchange_n(word, &found, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return true;
  *expected = static_cast<uint16_t>(found >> shift);
  return false;
}

template <class Cell>
inline bool swap_cell(Cell* cell, Cell* expected, Cell desired) noexcept {
#ifdef __riscv
  if constexpr (sizeof(Cell) == 2) return swap_half(cell, expected, desired);
#endif
#if !PCTALLY_WIDE_ATOMICS
  if constexpr (sizeof(Cell) == 8) return exchange_if_equal(cell, expected, desired);
#endif
  return __atomic_compare_exchange_n(cell, expected, desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

template <class Cell>
inline bool guarded_load(const Cell* cell, Cell* value) noexcept {
  if (is_odd(cell)) return false;
  return land_if_faulted(cell, [=] { *value = load_cell(cell); });
}

template <class Cell>
inline bool guarded_swap(Cell* cell, Cell* expected, Cell desired, bool* done) noexcept {
  *done = false;
  return land_if_faulted(cell, [=] { *done = swap_cell(cell, expected, desired); });
}

#endif

}  // namespace pctally
