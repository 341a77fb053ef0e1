// Machine code as instructions. x86 alone, by Zydis; code of other machines is one "instruction" per place
// that is asked for.
//
// Refuses to skip: bytes that are no instruction are "(bad)", one each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "object/elf/frame.h"

namespace pctally {

enum class Syntax { kAtt, kIntel };

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
  std::string operands;  ///< of a direct jump or call empty: its target says more
};

class Disassembler {
 public:
  /// Keeps the bytes. Instructions beyond the first ten million are left out.
  Disassembler(CodeBytes code, Syntax syntax);

  /// Whether it knows the machine's instructions, and has them.
  [[nodiscard]] bool readable() const { return readable_; }
  [[nodiscard]] const CodeBytes& code() const { return code_; }
  /// All of the code, in order and without gaps; empty if it is not readable.
  [[nodiscard]] std::vector<Instruction> instructions() const;
  [[nodiscard]] InstructionText text(const Instruction& instruction) const;

 private:
  CodeBytes code_;
  Syntax syntax_;
  bool readable_ = false;
  bool wide_ = true;  ///< 64-bit code
};

}  // namespace pctally
