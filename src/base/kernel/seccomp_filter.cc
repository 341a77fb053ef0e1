#include "base/kernel/seccomp_filter.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

namespace pctally {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#elif defined(__riscv)
constexpr uint32_t kArchitecture = AUDIT_ARCH_RISCV64;
#elif defined(__powerpc64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_PPC64;
#elif defined(__powerpc__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_PPC;
#else
constexpr uint32_t kArchitecture = 0;  // filters refuse what they do not know
#endif

constexpr uint32_t kRefused = SECCOMP_RET_KILL_THREAD;

/// The machine of bpf(4), as far as filters of system calls may use it.
class FilterMachine {
 public:
  explicit FilterMachine(long number) noexcept : number_(static_cast<uint32_t>(number)) {}

  /// The next instruction, `pc` places on. Sets *answer where it returns, and is false then.
  bool step(const sock_filter& instruction, size_t* pc, uint32_t* answer) noexcept {
    const uint32_t operand = (instruction.code & BPF_X) != 0 ? x_ : instruction.k;
    *pc += 1;
    switch (BPF_CLASS(instruction.code)) {
      case BPF_LD:
        return load(instruction, &a_, answer);
      case BPF_LDX:
        return load(instruction, &x_, answer);
      case BPF_ST:
        return store(instruction.k, a_, answer);
      case BPF_STX:
        return store(instruction.k, x_, answer);
      case BPF_ALU:
        return compute(BPF_OP(instruction.code), operand, answer);
      case BPF_JMP:
        *pc += jump(instruction, operand);
        return true;
      case BPF_RET:
        *answer = BPF_RVAL(instruction.code) == BPF_A ? a_ : instruction.k;
        return false;
      default:  // BPF_MISC
        if (BPF_MISCOP(instruction.code) == BPF_TXA)
          a_ = x_;
        else
          x_ = a_;
        return true;
    }
  }

 private:
  static bool refuse(uint32_t* answer) noexcept {
    *answer = kRefused;
    return false;
  }

  bool load(const sock_filter& instruction, uint32_t* to, uint32_t* answer) noexcept {
    switch (BPF_MODE(instruction.code)) {
      case BPF_ABS:
        *to = instruction.k == offsetof(seccomp_data, nr)     ? number_
              : instruction.k == offsetof(seccomp_data, arch) ? kArchitecture
                                                              : 0;
        return true;
      case BPF_LEN:
        *to = sizeof(seccomp_data);
        return true;
      case BPF_IMM:
        *to = instruction.k;
        return true;
      case BPF_MEM:
        if (instruction.k >= BPF_MEMWORDS) return refuse(answer);
        *to = memory_[instruction.k];
        return true;
      default:
        return refuse(answer);
    }
  }

  bool store(uint32_t place, uint32_t value, uint32_t* answer) noexcept {
    if (place >= BPF_MEMWORDS) return refuse(answer);
    memory_[place] = value;
    return true;
  }

  bool compute(unsigned operation, uint32_t operand, uint32_t* answer) noexcept {
    constexpr uint32_t kBits = 32;
    if ((operation == BPF_DIV && operand == 0) || operation == BPF_MOD) return refuse(answer);
    const uint32_t shift = operand % kBits;
    a_ = operation == BPF_ADD   ? a_ + operand
         : operation == BPF_SUB ? a_ - operand
         : operation == BPF_MUL ? a_ * operand
         : operation == BPF_DIV ? a_ / operand
         : operation == BPF_OR  ? a_ | operand
         : operation == BPF_AND ? a_ & operand
         : operation == BPF_LSH ? a_ << shift
         : operation == BPF_RSH ? a_ >> shift
         : operation == BPF_XOR ? a_ ^ operand
                                : 0 - a_;
    return true;
  }

  [[nodiscard]] size_t jump(const sock_filter& instruction, uint32_t operand) const noexcept {
    const unsigned operation = BPF_OP(instruction.code);
    if (operation == BPF_JA) return instruction.k;
    const bool holds = operation == BPF_JEQ   ? a_ == operand
                       : operation == BPF_JGT ? a_ > operand
                       : operation == BPF_JGE ? a_ >= operand
                                              : (a_ & operand) != 0;
    return holds ? instruction.jt : instruction.jf;
  }

  const uint32_t number_;
  uint32_t a_ = 0, x_ = 0;
  uint32_t memory_[BPF_MEMWORDS] = {};
};

}  // namespace

bool allows(std::span<const sock_filter> filter, long number) noexcept {
  FilterMachine machine(number);
  uint32_t answer = kRefused;
  for (size_t pc = 0; pc < filter.size() && machine.step(filter[pc], &pc, &answer);) {
  }
  const uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace pctally
