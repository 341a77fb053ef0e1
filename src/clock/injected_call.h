// Undoes Go's preemption: finds the pc that the thread had before Go's signal handler made
// it enter runtime.asyncPreempt.
#pragma once
#include "base/page.h"
#include "tick/context.h"
#include "tick/guarded_cell.h"
#include "tick/region.h"

namespace pctally {

#if defined(__x86_64__)

/// How Go's runtime.asyncPreempt begins: push %rbp; mov %rsp,%rbp; pushf. No compiler puts pushf there.
inline bool begins_go_preemption(uint64_t pc) noexcept {
  constexpr uint32_t kPushAndMove = 0xe5894855;
  constexpr uint8_t kPushFlags = 0x9c;
  uint32_t first = 0;
  uint8_t next = 0;
  // Behind the page of code that runs there may be no memory, and without call paths there is no guard. Go's
  // linker aligns functions: this one does not reach beyond its page.
  if (page_start(pc) != page_start(pc + sizeof first)) return false;
  return guarded_load(reinterpret_cast<const uint32_t*>(pc), &first) && first == kPushAndMove &&
         guarded_load(reinterpret_cast<const uint8_t*>(pc + sizeof first), &next) && next == kPushFlags;
}

/// Go preempts a goroutine by a signal. The handler of that signal blocks all others, pushes the interrupted
/// pc and continues at runtime.asyncPreempt. A tick that waited meanwhile interrupts the first instruction
/// there, where no CPU time passed: the pushed pc is put in its place. In a signal handler.
inline void skip_injected_call(const RegionTable& table, UnwindRegisters* registers) noexcept {
  uint64_t index = 0, place = 0;
  if (find_region(table, registers->pc, &index) == nullptr || !begins_go_preemption(registers->pc) ||
      !guarded_load(reinterpret_cast<const uint64_t*>(registers->stack), &place))
    return;
  registers->pc = place;
  registers->stack += sizeof place;
}

#else

inline void skip_injected_call(const RegionTable&, UnwindRegisters*) noexcept {}

#endif

}  // namespace pctally
