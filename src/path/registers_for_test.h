// The registers of getcontext(3), for tests that follow their own stack.
#pragma once
#include <ucontext.h>

#include "tick/unwind/unwind_rule.h"

#if PCTALLY_FOLLOWS_PATHS

namespace pctally {

inline UnwindRegisters registers_of(const ucontext_t& context) {
#if defined(__aarch64__)
  const auto& machine = context.uc_mcontext;
  return {.pc = machine.pc, .stack = machine.sp, .frame = machine.regs[29], .base = machine.regs[30]};
#else
  const auto& registers = context.uc_mcontext.gregs;
  return {.pc = static_cast<uint64_t>(registers[REG_RIP]),
          .stack = static_cast<uint64_t>(registers[REG_RSP]),
          .frame = static_cast<uint64_t>(registers[REG_RBP])};
#endif
}

}  // namespace pctally
#endif
