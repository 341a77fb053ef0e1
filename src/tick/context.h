// The interrupted registers from a signal's ucontext. One line per machine.
#pragma once
#include <signal.h>
#include <stdint.h>

#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// For SA_SIGINFO handlers. 0 on a machine it does not know.
inline uint64_t interrupted_pc(const void* context) noexcept {
  [[maybe_unused]] const auto* machine = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uint64_t>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__i386__)
  return static_cast<uint32_t>(machine->uc_mcontext.gregs[REG_EIP]);
#elif defined(__aarch64__)
  return machine->uc_mcontext.pc;
#elif defined(__riscv)
  return machine->uc_mcontext.__gregs[REG_PC];
#elif defined(__powerpc64__)
  return machine->uc_mcontext.gp_regs[32];
#elif defined(__powerpc__)
  return machine->uc_mcontext.uc_regs->gregs[32];
#else
  return 0;
#endif
}

/// What a walk along the stack starts from. For SA_SIGINFO handlers; nothing on a machine without call paths.
inline UnwindRegisters interrupted_registers(const void* context) noexcept {
  UnwindRegisters registers;
  [[maybe_unused]] const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  registers.pc = interrupted_pc(context);
#if defined(__x86_64__)
  registers.stack = static_cast<uint64_t>(machine.gregs[REG_RSP]);
  registers.frame = static_cast<uint64_t>(machine.gregs[REG_RBP]);
  registers.base = static_cast<uint64_t>(machine.gregs[REG_RBX]);
  registers.scratch = static_cast<uint64_t>(machine.gregs[REG_R10]);
  registers.link = static_cast<uint64_t>(machine.gregs[REG_RDI]);
#elif defined(__aarch64__)
  registers.stack = machine.sp;
  registers.frame = machine.regs[29];
  registers.base = machine.regs[30];
  registers.scratch = machine.regs[0];
#endif
  return registers;
}

/// The signals that the interrupted thread blocks, as many as the kernel has.
inline const void* interrupted_mask(const void* context) noexcept {
  return &static_cast<const ucontext_t*>(context)->uc_sigmask;
}

/// The alternate stack as the thread had set it when the signal came; null if it had none.
inline const stack_t* alternate_stack(const void* context) noexcept {
  const stack_t& stack = static_cast<const ucontext_t*>(context)->uc_stack;
  return (stack.ss_flags & SS_DISABLE) == 0 ? &stack : nullptr;
}

inline bool is_on_alternate_stack(const void* context, uint64_t address) noexcept {
  const stack_t* stack = alternate_stack(context);
  return stack != nullptr && address - reinterpret_cast<uintptr_t>(stack->ss_sp) < stack->ss_size;
}

/// True if `address`, of the stack that a handler runs on, lies below the first `bytes` of the
/// alternate stack, or in them. The kernel put the
/// handler on that stack with the room that it asks for at least: below is where a handler that took
/// more has got to. No system call.
inline bool is_near_end_of_stack(const void* context, uint64_t address, uint64_t bytes) noexcept {
  constexpr uint64_t kBelow = 8192;
  const stack_t* stack = alternate_stack(context);
  if (stack == nullptr) return false;
  return address - reinterpret_cast<uintptr_t>(stack->ss_sp) + kBelow < bytes + kBelow;
}

/// How much of the frame the interrupted thread's vector registers and tiles take, as of the frames of all
/// its signals; 0 if the kernel does not tell.
inline uint64_t extended_state_bytes([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  constexpr uint32_t kTells = 0x46505853;          // FP_XSTATE_MAGIC1
  constexpr uint64_t kMagicAt = 464, kBytes = 16;  // struct _fpx_sw_bytes, in what FXSAVE leaves free
  const auto* state =
      reinterpret_cast<const char*>(static_cast<const ucontext_t*>(context)->uc_mcontext.fpregs);
  if (state == nullptr) return 0;
  uint32_t magic, bytes;
  __builtin_memcpy(&magic, state + kMagicAt, sizeof magic);
  __builtin_memcpy(&bytes, state + kMagicAt + kBytes, sizeof bytes);
  return magic == kTells ? bytes : 0;
#else
  return 0;
#endif
}

/// Where the program goes on when the handler returns. Only machines with a table of faults
/// (guarded_cell.h) need it.
inline void set_interrupted_pc([[maybe_unused]] void* context, [[maybe_unused]] uint64_t pc) noexcept {
#if defined(__x86_64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(pc);
#elif defined(__aarch64__)
  static_cast<ucontext_t*>(context)->uc_mcontext.pc = pc;
#endif
}

/// Where the program was before handlers began that have not run an instruction yet. The kernel makes the
/// frames of all signals that are pending at once, each on top of the one before: ours then interrupts the
/// first instruction of another handler, where no CPU time passed.
inline const void* context_below_new_frames(const void* context) noexcept {
#if defined(__x86_64__)
  constexpr uint64_t kKernelContextBytes = 304;  // ucontext as the kernel writes it: siginfo follows
  for (unsigned depth = 0; depth < 8; ++depth) {
    const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    const auto stack = static_cast<uint64_t>(registers[REG_RSP]),
               below = static_cast<uint64_t>(registers[REG_RDX]);
    const auto signal = static_cast<uint64_t>(registers[REG_RDI]);
    if (signal - 1 >= 64 || registers[REG_RAX] != 0 || below != stack + 8 ||
        static_cast<uint64_t>(registers[REG_RSI]) != below + kKernelContextBytes)
      break;
    context = reinterpret_cast<const void*>(below);
  }
#elif defined(__aarch64__)
  constexpr uint64_t kSiginfoBytes = 128;  // ucontext follows
  for (unsigned depth = 0; depth < 8; ++depth) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
    if (machine.regs[0] - 1 >= 64 || machine.regs[1] != machine.sp ||
        machine.regs[2] != machine.sp + kSiginfoBytes)
      break;
    context = reinterpret_cast<const void*>(machine.regs[2]);
  }
#endif
  return context;
}

}  // namespace pctally
