// Machine code as instructions: of x86 and aarch64. Code of other machines has none.
//
// Refuses to skip: bytes that are no instruction are "(bad)".
#pragma once
#include <memory>
#include <vector>

#include "object/elf/frame.h"
#include "report/annotate/instruction_set.h"

namespace pctally {

class Disassembler {
 public:
  /// Keeps the bytes. Instructions beyond the first ten million are left out.
  Disassembler(CodeBytes code, Syntax syntax);

  /// Whether it knows the machine's instructions, and has them.
  [[nodiscard]] bool readable() const { return set_ != nullptr && !code_.bytes.empty(); }
  [[nodiscard]] const CodeBytes& code() const { return code_; }
  /// All of the code, in order and without gaps; empty if it is not readable.
  [[nodiscard]] std::vector<Instruction> instructions() const;
  [[nodiscard]] InstructionText text(const Instruction& instruction) const;

 private:
  [[nodiscard]] std::span<const uint8_t> bytes_from(size_t at) const;

  CodeBytes code_;
  std::unique_ptr<const InstructionSet> set_;  ///< null: those of a machine that is not known here
};

}  // namespace pctally
