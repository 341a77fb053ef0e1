// The instructions of one kind of machine, read one at a time.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace pctally {

enum class Syntax { kAtt, kIntel };  ///< of x86

struct Instruction {
  enum class Kind : uint8_t { kPlain, kJump, kCall, kBad };
  uint64_t address = 0;  ///< ObjectAddress
  uint64_t target = 0;   ///< of a direct jump or call; else 0
  uint8_t length = 0;
  Kind kind = Kind::kPlain;
  bool falls_through = true;  ///< the next instruction may run after it
  bool is_nop = false;        ///< fills a gap
};

struct InstructionText {
  std::string mnemonic;
  std::string operands;  ///< of a direct jump or call without its target, which says more by itself
  uint64_t memory = 0;   ///< ObjectAddress of an operand relative to the instruction pointer; else 0
  /// The operands, and behind them that address, as objdump has it: "0x2ee5(%rip), %rdx  # 4018".
  [[nodiscard]] std::string operands_and_memory() const;
};

inline const InstructionText kBadText = {"(bad)", ""};

class InstructionSet {
 public:
  virtual ~InstructionSet() = default;
  /// `bytes`, at least one, begin with the instruction at `address`. Those that are none are kBad.
  [[nodiscard]] virtual Instruction first(std::span<const uint8_t> bytes, uint64_t address) const = 0;
  /// The text of an instruction that first() decoded from the same bytes.
  [[nodiscard]] virtual InstructionText text(std::span<const uint8_t> bytes,
                                             const Instruction& instruction) const = 0;
};

/// Null where Zydis was not there when this was built. `wide`: 64-bit code.
std::unique_ptr<const InstructionSet> x86_instructions(bool wide, Syntax syntax);

/// Null where Capstone was not there when this was built, or is not now.
std::unique_ptr<const InstructionSet> aarch64_instructions();

}  // namespace pctally
