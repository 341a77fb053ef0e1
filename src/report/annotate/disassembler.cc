#include "report/annotate/disassembler.h"

#include <elf.h>
#include <fmt/format.h>

#include <utility>

namespace pctally {
namespace {

constexpr size_t kMostInstructions = 10'000'000;

std::unique_ptr<const InstructionSet> instructions_of(uint16_t machine, Syntax syntax) {
  switch (machine) {
    case EM_X86_64:
    case EM_386:
      return x86_instructions(machine == EM_X86_64, syntax);
    case EM_AARCH64:
      return aarch64_instructions();
    default:
      return nullptr;
  }
}

}  // namespace

std::string InstructionText::operands_and_memory() const {
  return memory == 0 ? operands : fmt::format("{}  # {:x}", operands, memory);
}

Disassembler::Disassembler(CodeBytes code, Syntax syntax)
    : code_(std::move(code)), set_(instructions_of(code_.machine, syntax)) {}

std::span<const uint8_t> Disassembler::bytes_from(size_t at) const {
  return std::span<const uint8_t>(code_.bytes).subspan(at);
}

std::vector<Instruction> Disassembler::instructions() const {
  std::vector<Instruction> result;
  if (!readable()) return result;
  for (size_t at = 0; at < code_.bytes.size() && result.size() < kMostInstructions;) {
    result.push_back(set_->first(bytes_from(at), code_.address + at));
    at += result.back().length;
  }
  return result;
}

InstructionText Disassembler::text(const Instruction& instruction) const {
  const size_t at = instruction.address - code_.address;
  if (!readable() || at >= code_.bytes.size()) return kBadText;
  return set_->text(bytes_from(at), instruction);
}

}  // namespace pctally
