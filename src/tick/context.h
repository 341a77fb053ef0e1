// The interrupted program counter from a signal's ucontext. One line per machine.
#pragma once
#include <stdint.h>
#include <ucontext.h>

namespace pctally {

/// For SA_SIGINFO handlers. 0 on a machine it does not know.
inline uint64_t interrupted_pc(const void* context) noexcept {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uint64_t>(machine->gregs[REG_RIP]);
#elif defined(__i386__)
  return static_cast<uint32_t>(machine->gregs[REG_EIP]);
#elif defined(__aarch64__)
  return machine->pc;
#elif defined(__riscv)
  return machine->__gregs[REG_PC];
#else
  return machine == nullptr;
#endif
}

/// Where the program goes on when the handler returns. Only machines with guarded cells (guarded_cell.h) need
/// it.
inline void set_interrupted_pc([[maybe_unused]] void* context, [[maybe_unused]] uint64_t pc) noexcept {
#if defined(__x86_64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
#elif defined(__aarch64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.pc = pc;
#endif
}

}  // namespace pctally
