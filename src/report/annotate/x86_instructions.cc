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
bool has_no_size(const ZydisDecodedInstruction& decoded) {
  if (converts_integer(decoded) || decoded.mnemonic == ZYDIS_MNEMONIC_FISTTP) return false;
  const std::string_view extension = ZydisISAExtGetString(decoded.meta.isa_ext);
  for (std::string_view name : {"MMX", "SSE", "SSSE", "AVX", "FMA", "F16C", "BMI", "AES", "SHA", "GFNI",
                                "PCLMUL", "KEYLOCKER", "ENQCMD", "MOVDIR"})
    if (extension.starts_with(name)) return true;
  return false;
}

/// "x" or "y" where no register says how much of memory is converted to half as much: "vcvtpd2psx".
std::string narrowed_size(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands) {
  const std::span visible(operands, decoded.operand_count_visible);
  if (std::ranges::find(visible, ZYDIS_OPERAND_TYPE_MEMORY, &ZydisDecodedOperand::type) == visible.end())
    return {};
  switch (decoded.mnemonic) {
    case ZYDIS_MNEMONIC_VCVTPD2DQ:
    case ZYDIS_MNEMONIC_VCVTPD2PS:
    case ZYDIS_MNEMONIC_VCVTPD2UDQ:
    case ZYDIS_MNEMONIC_VCVTQQ2PS:
    case ZYDIS_MNEMONIC_VCVTTPD2DQ:
    case ZYDIS_MNEMONIC_VCVTTPD2UDQ:
    case ZYDIS_MNEMONIC_VCVTUQQ2PS:
      return decoded.avx.vector_length == 128 ? "x" : decoded.avx.vector_length == 256 ? "y" : "";
    default:
      return {};
  }
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

/// %st(1) to %st(7).
bool to_lower_stack(const ZydisDecodedOperand& operand) {
  return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value > ZYDIS_REGISTER_ST0 &&
         operand.reg.value <= ZYDIS_REGISTER_ST7;
}

/// What assemblers call an instruction that Zydis calls otherwise; empty if they agree.
std::string usual_mnemonic(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands,
                           bool att) {
  std::string condition = usual_condition(ZydisMnemonicGetString(decoded.mnemonic));
  if (!condition.empty() || !att) return condition;
  if (decoded.mnemonic == ZYDIS_MNEMONIC_CRC32 && operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY)
    return std::string("crc32") + size_letter(operands[1]);
  if (has_no_size(decoded))
    return ZydisMnemonicGetString(decoded.mnemonic) + narrowed_size(decoded, operands);
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
    case ZYDIS_MNEMONIC_CBW:
      return "cbtw";
    case ZYDIS_MNEMONIC_CWD:
      return "cwtd";
    case ZYDIS_MNEMONIC_FSUB:  // AT&T's assembler had these the wrong way round, and still has
      return to_lower_stack(operands[0]) ? "fsubr" : "";
    case ZYDIS_MNEMONIC_FSUBR:
      return to_lower_stack(operands[0]) ? "fsub" : "";
    case ZYDIS_MNEMONIC_FDIV:
      return to_lower_stack(operands[0]) ? "fdivr" : "";
    case ZYDIS_MNEMONIC_FDIVR:
      return to_lower_stack(operands[0]) ? "fdiv" : "";
    case ZYDIS_MNEMONIC_FSUBP:
      return "fsubrp";
    case ZYDIS_MNEMONIC_FSUBRP:
      return "fsubp";
    case ZYDIS_MNEMONIC_FDIVP:
      return "fdivrp";
    case ZYDIS_MNEMONIC_FDIVRP:
      return "fdivp";
    default:
      return {};
  }
}

/// What Zydis itself has in place of print_register(), for all other registers.
using PrintRegister = ZydisFormatterRegisterFunc;

/// "%st(1)" for Zydis's "%st1", and "%st" where no bits of the instruction say which one.
ZyanStatus print_register(const ZydisFormatter* formatter, ZydisFormatterBuffer* buffer,
                          ZydisFormatterContext* context, ZydisRegister which) {
  const auto* original = static_cast<const PrintRegister*>(context->user_data);
  if (which < ZYDIS_REGISTER_ST0 || which > ZYDIS_REGISTER_ST7)
    return (*original)(formatter, buffer, context, which);
  const bool att = formatter->style == ZYDIS_FORMATTER_STYLE_ATT;
  std::string name = att ? "%st" : "st";
  if (context->operand->encoding != ZYDIS_OPERAND_ENCODING_NONE)
    name += "(" + std::to_string(which - ZYDIS_REGISTER_ST0) + ")";
  ZyanString* text = nullptr;
  ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_REGISTER));
  ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &text));
  ZyanStringView view;
  ZYAN_CHECK(ZyanStringViewInsideBuffer(&view, name.c_str()));
  return ZyanStringAppend(text, &view);
}

/// Sets up Zydis as objdump writes. The result is to be `user_data` of each instruction.
PrintRegister set_up(ZydisFormatter* formatter, Syntax syntax) {
  ZydisFormatterInit(formatter,
                     syntax == Syntax::kAtt ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
  for (const auto& [property, value] :
       {std::pair<ZydisFormatterProperty, ZyanUPointer>(ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE),
        {ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
        {ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED}})
    ZydisFormatterSetProperty(formatter, property, value);
  const void* hook = reinterpret_cast<const void*>(&print_register);
  ZydisFormatterSetHook(formatter, ZYDIS_FORMATTER_FUNC_PRINT_REGISTER, &hook);
  return reinterpret_cast<PrintRegister>(const_cast<void*>(hook));
}

/// Where an operand relative to the instruction pointer lies; 0 if there is none.
uint64_t memory_of(const ZydisDecodedInstruction& decoded, const ZydisDecodedOperand* operands,
                   uint64_t address) {
  ZyanU64 memory = 0;
  for (const ZydisDecodedOperand& operand : std::span(operands, decoded.operand_count_visible)) {
    const bool is_relative =
        operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
        (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP);
    if (is_relative && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&decoded, &operand, address, &memory)))
      return memory;
  }
  return 0;
}

/// A jump or call to what a register or memory holds.
bool is_indirect(const Instruction& instruction, const ZydisDecodedInstruction& decoded,
                 const ZydisDecodedOperand& operand) {
  return instruction.kind != Instruction::Kind::kPlain && decoded.operand_count_visible > 0 &&
         (operand.type == ZYDIS_OPERAND_TYPE_REGISTER || operand.type == ZYDIS_OPERAND_TYPE_MEMORY);
}

/// A displacement that is there and zero, which Zydis leaves out: "0x0(%rbp)".
bool has_zero_displacement(const ZydisDecodedInstruction& decoded) {
  return decoded.raw.disp.size != 0 && decoded.raw.disp.value == 0;
}

/// Prefixes ("lock", "rep") belong to the mnemonic.
InstructionText joined(const ZydisFormatterToken* token, bool zero_displacement) {
  InstructionText text;
  bool behind = false;
  do {
    ZydisTokenType type = ZYDIS_TOKEN_INVALID;
    const char* value = nullptr;
    ZydisFormatterTokenGetValue(token, &type, &value);
    if (*value == '(' && zero_displacement) text.operands += "0x0";
    if (*value == '{' && text.operands.ends_with(' ')) text.operands.pop_back();  // "%k4{%k1}"
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
    PrintRegister original = set_up(&formatter, syntax_);
    char buffer[512];
    const ZydisFormatterToken* token = nullptr;
    if (!ZYAN_SUCCESS(ZydisFormatterTokenizeInstruction(
            &formatter, &decoded, operands, decoded.operand_count_visible, buffer, sizeof buffer,
            instruction.address, &token, static_cast<void*>(&original))))
      return kBadText;
    const bool att = syntax_ == Syntax::kAtt;
    InstructionText text = joined(token, att && has_zero_displacement(decoded));
    if (instruction.target != 0 || decoded.mnemonic == ZYDIS_MNEMONIC_NOP)
      text.operands.clear();
    else
      text.memory = memory_of(decoded, operands, instruction.address);
    if (att && is_indirect(instruction, decoded, operands[0])) text.operands.insert(0, "*");
    if (std::string usual = usual_mnemonic(decoded, operands, att); !usual.empty())
      text.mnemonic = usual;
    else if (att)
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
