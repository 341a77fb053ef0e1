// The stack that came with a tick, from the rings to the unwinder.
#pragma once
#include "path/unwinder.h"
#include "perf/ring_set.h"

namespace pctally {

inline StackSample stack_of(const RingSet::Sample& sample) {
  StackSample stack;
  stack.registers = {.pc = sample.registers[StackRegister::kProgram],
                     .stack = sample.registers[StackRegister::kStack],
                     .frame = sample.registers[StackRegister::kFrame],
                     .base = sample.registers[StackRegister::kBase],
                     .scratch = sample.registers[StackRegister::kScratch],
                     .link = sample.registers[StackRegister::kReturn]};
  stack.stack = sample.stack;
  stack.stack_address = sample.stack_address;
  stack.chunks = sample.stack_chunks;
  if (sample.stack_missed) stack.missing = PathEnd::kNoRoom;
  stack.kernel_calls = sample.kernel_calls;
  stack.attempted = sample.has_registers && stack.registers.stack != 0;  // a thread of io_uring has none
  stack.in_kernel = sample.kernel;
  stack.cut_off = sample.stack_cut_off;
  return stack;
}

}  // namespace pctally
