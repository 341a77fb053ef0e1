// x86's instructions, by Zydis.
#ifdef PCTALLY_HAVE_ZYDIS
#include <Zydis/Zydis.h>
#endif

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "report/annotate/instruction_set.h"

namespace pctally {

#ifdef PCTALLY_HAVE_ZYDIS
namespace {

ZydisDecoder decoder_for(bool wide) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                   wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
  return decoder;
}

Instruction::Kind kind_of(ZydisInstructionCategory category) {
  if (category == ZYDIS_CATEGORY_CALL) return Instruction::Kind::kCall;
  bool jump = category == ZYDIS_CATEGORY_COND_BR || category == ZYDIS_CATEGORY_UNCOND_BR;
  return jump ? Instruction::Kind::kJump : Instruction::Kind::kPlain;
}

bool falls_through(const ZydisDecodedInstruction& decoded) {
  if (decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || decoded.mnemonic == ZYDIS_MNEMONIC_INT3) return false;
  const ZydisInstructionCategory category = decoded.meta.category;
  return category != ZYDIS_CATEGORY_UNCOND_BR && category != ZYDIS_CATEGORY_RET;
}

/// Where a jump or call leads, if the instruction itself says so.
uint64_t target_of(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand& operand,
                   uint64_t address) {
  ZyanU64 target = 0;
  bool direct = decoded.operand_count_visible > 0 && operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                operand.imm.is_relative;
  return direct && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operand, address, &target)) ? target : 0;
}

/// "je" for Zydis's "jz", as objdump and debuggers have it; empty if it is no condition.
std::string usual_condition(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kConditions[] = {
      {"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"}};
  for (std::string_view stem : {"j", "set", "cmov"})
    for (const auto& [ours, usual] : kConditions)
      if (name.starts_with(stem) && name.substr(stem.size()) == ours) return std::string(stem).append(usual);
  return {};
}

/// AT&T's letter of an operand's size.
char size_letter(const ZydisDecodedOperand& operand) {
  switch (operand.size) {
    case 8:
      return 'b';
    case 16:
      return 'w';
    case 32:
      return 'l';
    default:
      return 'q';
  }
}

bool converts_integer(const ZydisDecodedInstruction& decoded) {
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_CVTSI2SD:
    case ZYDIS_MNEMONIC_CVTSI2SS:
    case ZYDIS_MNEMONIC_VCVTSI2SD:
    case ZYDIS_MNEMONIC_VCVTSI2SS:
      return true;
    default:
      return false;
  }
}

/// Instructions to which AT&T's syntax adds no size ("movsd", not "movsdq"), but for conversions from
/// integers, and for the one of SSE3 that stores an integer of the x87.
bool is_vector(const ZydisDecodedInstruction& decoded) {
  if (converts_integer(decoded) || decoded.mnemonic == ZYDIS_MNEMONIC_FISTTP) return false;
  const std::string_view extension = ZydisISAExtGetString(decoded.meta.isa_ext);
  for (std::string_view name : {"SSE", "SSSE", "AVX", "FMA", "F16C", "BMI", "AES", "SHA", "GFNI", "PCLMUL"})
    if (extension.starts_with(name)) return true;
  return false;
}

/// "l" of "fldl", "ll" of "fildll": of what the x87 reads or writes in memory; empty for its control words.
std::string x87_size(std::string_view name, const ZydisDecodedOperand& operand) {
  if (name.starts_with("fi")) return operand.size == 16 ? "s" : operand.size == 32 ? "l" : "ll";
  switch (operand.element_type) {
    case ZYDIS_ELEMENT_TYPE_FLOAT32:
      return "s";
    case ZYDIS_ELEMENT_TYPE_FLOAT64:
      return "l";
    case ZYDIS_ELEMENT_TYPE_FLOAT80:
      return "t";
    default:
      return {};
  }
}

/// AT&T's size of an operand in memory where no register says it, and Zydis does not either: "negl".
std::string missing_size(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands) {
  const std::span visible(operands, decoded.operand_count_visible);
  const auto in_memory = std::ranges::find(visible, ZYDIS_OPERAND_TYPE_MEMORY, &ZydisDecodedOperand::type);
  if (in_memory == visible.end()) return {};
  if (decoded.meta.isa_ext == ZYDIS_ISA_EXT_X87 || decoded.mnemonic == ZYDIS_MNEMONIC_FISTTP)
    return x87_size(ZydisMnemonicGetString(decoded.mnemonic), *in_memory);
  const bool is_arithmetic =
      decoded.meta.category == ZYDIS_CATEGORY_BINARY || decoded.meta.category == ZYDIS_CATEGORY_LOGICAL;
  const bool is_alone = decoded.operand_count_visible == 1 && is_arithmetic;
  return is_alone || converts_integer(decoded) ? std::string(1, size_letter(*in_memory)) : std::string();
}

/// A name of Zydis, with its prefixes, as AT&T's assemblers have it.
std::string with_size(std::string name, const ZydisDecodedInstruction& decoded,
                      const ZydisDecodedOperand* operands) {
  if (decoded.meta.category == ZYDIS_CATEGORY_STRINGOP && name.ends_with('d')) name.back() = 'l';
  return name.ends_with(ZydisMnemonicGetString(decoded.mnemonic)) ? name + missing_size(decoded, operands)
                                                                  : name;
}

/// What assemblers call an instruction that Zydis calls otherwise; empty if they agree.
std::string usual_mnemonic(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands,
                           bool att) {
  std::string condition = usual_condition(ZydisMnemonicGetString(decoded.mnemonic));
  if (!condition.empty() || !att) return condition;
  if (is_vector(decoded)) return ZydisMnemonicGetString(decoded.mnemonic);
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_MOVZX:
      return std::string("movz") + size_letter(operands[1]) + size_letter(operands[0]);
    case ZYDIS_MNEMONIC_MOVSX:
    case ZYDIS_MNEMONIC_MOVSXD:
      return std::string("movs") + size_letter(operands[1]) + size_letter(operands[0]);
    case ZYDIS_MNEMONIC_MOV:
      return decoded.raw.imm[0].size == 64 || decoded.raw.disp.size == 64 ? "movabs" : "";
    case ZYDIS_MNEMONIC_CDQE:
      return "cltq";
    case ZYDIS_MNEMONIC_CDQ:
      return "cltd";
    case ZYDIS_MNEMONIC_CQO:
      return "cqto";
    case ZYDIS_MNEMONIC_CWDE:
      return "cwtl";
    default:
      return {};
  }
}

/// Prefixes ("lock", "rep") belong to the mnemonic.
InstructionText joined(const ZydisFormatterToken* token) {
  InstructionText text;
  bool behind = false;
  do {
    ZydisTokenType type = ZYDIS_TOKEN_INVALID;
    const char* value = nullptr;
    ZydisFormatterTokenGetValue(token, &type, &value);
    if (behind && (!text.operands.empty() || type != ZYDIS_TOKEN_WHITESPACE)) text.operands += value;
    if (!behind) text.mnemonic += value;
    behind = behind || type == ZYDIS_TOKEN_MNEMONIC;
  } while (ZYAN_SUCCESS(ZydisFormatterTokenNext(&token)));
  return text;
}

class X86Instructions : public InstructionSet {
 public:
  X86Instructions(bool wide, Syntax syntax) : decoder_(decoder_for(wide)), syntax_(syntax) {}

  [[nodiscard]] Instruction first(std::span<const uint8_t> bytes, uint64_t address) const override {
    Instruction instruction{.address = address, .length = 1, .kind = Instruction::Kind::kBad};
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!decode(bytes, &decoded, operands)) return instruction;
    instruction.length = decoded.length;
    instruction.kind = kind_of(decoded.meta.category);
    instruction.falls_through = falls_through(decoded);
    instruction.is_nop = decoded.mnemonic == ZYDIS_MNEMONIC_NOP;
    if (instruction.kind != Instruction::Kind::kPlain)
      instruction.target = target_of(decoded, operands[0], address);
    return instruction;
  }

  [[nodiscard]] InstructionText text(std::span<const uint8_t> bytes,
                                     const Instruction& instruction) const override {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!decode(bytes, &decoded, operands)) return kBadText;
    ZydisFormatter formatter;
    ZydisFormatterInit(&formatter,
                       syntax_ == Syntax::kAtt ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
    char buffer[512];
    const ZydisFormatterToken* token = nullptr;
    if (!ZYAN_SUCCESS(ZydisFormatterTokenizeInstruction(&formatter, &decoded, operands,
                                                        decoded.operand_count_visible, buffer, sizeof buffer,
                                                        instruction.address, &token, nullptr)))
      return kBadText;
    InstructionText text = joined(token);
    if (instruction.target != 0 || decoded.mnemonic == ZYDIS_MNEMONIC_NOP) text.operands.clear();
    if (std::string usual = usual_mnemonic(decoded, operands, syntax_ == Syntax::kAtt); !usual.empty())
      text.mnemonic = usual;
    else if (syntax_ == Syntax::kAtt)
      text.mnemonic = with_size(text.mnemonic, decoded, operands);
    return text;
  }

 private:
  bool decode(std::span<const uint8_t> bytes, ZydisDecodedInstruction* decoded,
              ZydisDecodedOperand* operands) const {
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, bytes.data(), bytes.size(), decoded, operands));
  }

  ZydisDecoder decoder_;
  Syntax syntax_;
};

}  // namespace

std::unique_ptr<const InstructionSet> x86_instructions(bool wide, Syntax syntax) {
  return std::make_unique<X86Instructions>(wide, syntax);
}

#else

std::unique_ptr<const InstructionSet> x86_instructions(bool, Syntax) { return nullptr; }

#endif

}  // namespace pctally
