// aarch64's instructions, by Capstone.
#ifdef PCTALLY_HAVE_CAPSTONE
#include <capstone/capstone.h>
#endif

#include <algorithm>

#include "report/annotate/instruction_set.h"

namespace pctally {

#ifdef PCTALLY_HAVE_CAPSTONE
namespace {

constexpr uint8_t kLength = 4;

bool is_one_of(const cs_insn& read, std::initializer_list<unsigned> ids) {
  return std::find(ids.begin(), ids.end(), read.id) != ids.end();
}

bool is_direct_jump(const cs_insn& read) {
  return is_one_of(read, {ARM64_INS_B, ARM64_INS_CBZ, ARM64_INS_CBNZ, ARM64_INS_TBZ, ARM64_INS_TBNZ});
}

Instruction::Kind kind_of(const cs_insn& read) {
  if (is_one_of(read, {ARM64_INS_BL, ARM64_INS_BLR})) return Instruction::Kind::kCall;
  return is_direct_jump(read) || read.id == ARM64_INS_BR ? Instruction::Kind::kJump
                                                         : Instruction::Kind::kPlain;
}

bool falls_through(const cs_insn& read) {
  const arm64_cc condition = read.detail->arm64.cc;
  if (read.id == ARM64_INS_B) return condition != ARM64_CC_INVALID && condition != ARM64_CC_AL;
  return !is_one_of(read, {ARM64_INS_BR, ARM64_INS_RET, ARM64_INS_ERET, ARM64_INS_DRPS, ARM64_INS_BRK});
}

/// The last operand of a direct jump or call.
uint64_t target_of(const cs_insn& read) {
  const cs_arm64& of = read.detail->arm64;
  if (of.op_count == 0 || !(is_direct_jump(read) || read.id == ARM64_INS_BL)) return 0;
  const cs_arm64_op& last = of.operands[of.op_count - 1];
  return last.type == ARM64_OP_IMM ? static_cast<uint64_t>(last.imm) : 0;
}

/// "x3" of "x3, #0x1008"
std::string without_target(const std::string& operands) {
  const size_t comma = operands.rfind(", ");
  return comma == std::string::npos ? "" : operands.substr(0, comma);
}

class Aarch64Instructions : public InstructionSet {
 public:
  Aarch64Instructions() {
    if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &capstone_) != CS_ERR_OK) return;
    cs_option(capstone_, CS_OPT_DETAIL, CS_OPT_ON);
    read_ = cs_malloc(capstone_);
  }
  ~Aarch64Instructions() override {
    if (read_ != nullptr) cs_free(read_, 1);
    if (capstone_ != 0) cs_close(&capstone_);
  }
  Aarch64Instructions(const Aarch64Instructions&) = delete;
  Aarch64Instructions& operator=(const Aarch64Instructions&) = delete;
  [[nodiscard]] bool valid() const { return read_ != nullptr; }

  [[nodiscard]] Instruction first(std::span<const uint8_t> bytes, uint64_t address) const override {
    Instruction instruction{.address = address,
                            .length = static_cast<uint8_t>(std::min<size_t>(kLength, bytes.size())),
                            .kind = Instruction::Kind::kBad};
    if (!read(bytes, address)) return instruction;
    instruction.kind = kind_of(*read_);
    instruction.target = target_of(*read_);
    instruction.falls_through = falls_through(*read_);
    instruction.is_nop = read_->id == ARM64_INS_NOP;
    return instruction;
  }

  [[nodiscard]] InstructionText text(std::span<const uint8_t> bytes,
                                     const Instruction& instruction) const override {
    if (!read(bytes, instruction.address)) return kBadText;
    const std::string operands = read_->op_str;
    return {read_->mnemonic, instruction.target != 0 ? without_target(operands) : operands};
  }

 private:
  bool read(std::span<const uint8_t> bytes, uint64_t address) const {
    const uint8_t* code = bytes.data();
    size_t size = bytes.size();
    return cs_disasm_iter(capstone_, &code, &size, &address, read_);
  }

  csh capstone_ = 0;
  cs_insn* read_ = nullptr;  ///< the instruction that was read last
};

}  // namespace

std::unique_ptr<const InstructionSet> aarch64_instructions() {
  auto instructions = std::make_unique<Aarch64Instructions>();
  if (!instructions->valid()) return nullptr;
  return instructions;
}

#else

std::unique_ptr<const InstructionSet> aarch64_instructions() { return nullptr; }

#endif

}  // namespace pctally
