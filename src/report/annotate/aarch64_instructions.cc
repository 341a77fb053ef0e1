// aarch64's instructions, by Capstone. It is loaded by the first that is read: linked, its tables took half
// of the time of every start (373 of 601 page faults, 9 of 18 ms on one machine).
#ifdef PCTALLY_HAVE_CAPSTONE
#include <capstone/capstone.h>
#include <dlfcn.h>
#endif

#include <algorithm>

#include "report/annotate/instruction_set.h"

namespace pctally {

#ifdef PCTALLY_HAVE_CAPSTONE
namespace {

constexpr uint8_t kLength = 4;

class Capstone {
 public:
  /// Null where it is not installed.
  static const Capstone* loaded() {
    static const Capstone capstone;
    return capstone.disasm_iter != nullptr ? &capstone : nullptr;
  }

  decltype(&cs_open) open = nullptr;
  decltype(&cs_close) close = nullptr;
  decltype(&cs_option) option = nullptr;
  decltype(&cs_malloc) malloc = nullptr;
  decltype(&cs_free) free = nullptr;
  decltype(&cs_disasm_iter) disasm_iter = nullptr;  ///< taken last: null if any is missing

 private:
  Capstone() {
    void* library = dlopen(PCTALLY_CAPSTONE, RTLD_NOW);
    if (library == nullptr) return;
    const bool all = take(library, "cs_open", &open) && take(library, "cs_close", &close) &&
                     take(library, "cs_option", &option) && take(library, "cs_malloc", &malloc) &&
                     take(library, "cs_free", &free);
    if (all) take(library, "cs_disasm_iter", &disasm_iter);
  }

  template <typename Function>
  static bool take(void* library, const char* name, Function* function) {
    *function = reinterpret_cast<Function>(dlsym(library, name));
    return *function != nullptr;
  }
};

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
  explicit Aarch64Instructions(const Capstone& capstone) : capstone_(capstone) {
    if (capstone_.open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle_) != CS_ERR_OK) return;
    capstone_.option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    read_ = capstone_.malloc(handle_);
  }
  ~Aarch64Instructions() override {
    if (read_ != nullptr) capstone_.free(read_, 1);
    if (handle_ != 0) capstone_.close(&handle_);
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
    return capstone_.disasm_iter(handle_, &code, &size, &address, read_);
  }

  const Capstone& capstone_;
  csh handle_ = 0;
  cs_insn* read_ = nullptr;  ///< the instruction that was read last
};

}  // namespace

std::unique_ptr<const InstructionSet> aarch64_instructions() {
  const Capstone* capstone = Capstone::loaded();
  if (capstone == nullptr) return nullptr;
  auto instructions = std::make_unique<Aarch64Instructions>(*capstone);
  if (!instructions->valid()) return nullptr;
  return instructions;
}

#else

std::unique_ptr<const InstructionSet> aarch64_instructions() { return nullptr; }

#endif

}  // namespace pctally
