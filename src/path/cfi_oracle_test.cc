// The interpreter of tick/unwind/cfi.h against that of elfutils, over the code of real libraries.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "base/device_number.h"
#include "base/unique_fd.h"
#include "path/object_frames.h"
#include "process/proc_maps.h"

#if defined(__x86_64__)

namespace pctally {
namespace {

constexpr int kRbx = 3, kRbp = 6, kRsp = 7, kR10 = 10, kReturnAddress = 16;

/// A register and an offset in bytes, as a location of one operation says it.
bool is_register_offset(const Dwarf_Op* ops, size_t count, int* reg, int64_t* offset) {
  if (count != 1) return false;
  if (ops[0].atom == DW_OP_bregx) {
    *reg = static_cast<int>(ops[0].number);
    *offset = static_cast<int64_t>(ops[0].number2);
    return true;
  }
  if (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31) return false;
  *reg = ops[0].atom - DW_OP_breg0;
  *offset = static_cast<int64_t>(ops[0].number);
  return true;
}

/// "At CFA + offset": call_frame_cfa, then plus_uconst, or consts and plus.
bool is_cfa_offset(const Dwarf_Op* ops, size_t count, int64_t* offset) {
  if (count < 2 || ops[0].atom != DW_OP_call_frame_cfa) return false;
  *offset = static_cast<int64_t>(ops[1].number);
  return (count == 2 && ops[1].atom == DW_OP_plus_uconst) ||
         (count == 3 && ops[1].atom == DW_OP_consts && ops[2].atom == DW_OP_plus);
}

/// Where the caller's value of a register is.
bool expected_saved(Dwarf_Frame* frame, int reg, FrameKind* kind, int16_t* words) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0) return false;
  *kind = FrameKind::kSame;
  if (count == 0) {
    // Of a register that the table does not name elfutils says that only rbp is preserved; the psABI says
    // rbx, too.
    if (ops != nullptr && reg != kRbx) *kind = FrameKind::kUndefined;
    return true;
  }
  int64_t slot = 0;
  if (!is_cfa_offset(ops, count, &slot)) return false;
  *kind = FrameKind::kSaved;
  *words = static_cast<int16_t>(slot / 8);
  return true;
}

/// The rule as elfutils has it; false where it is none that the test compares.
bool expected_rule(Dwarf_Frame* frame, UnwindRule* rule) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  bool is_signal = false;
  if (dwarf_frame_info(frame, nullptr, nullptr, &is_signal) < 0 || is_signal) return false;
  if (dwarf_frame_register(frame, kReturnAddress, memory, &ops, &count) != 0) return false;
  if (count == 0 && ops != nullptr) {  // undefined
    *rule = {};
    rule->cfa = CfaKind::kEnd;
    return true;
  }
  int reg = 0;
  int64_t offset = 0;
  if (!is_cfa_offset(ops, count, &offset) || offset != -8) return false;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0 || !is_register_offset(ops, count, &reg, &offset))
    return false;
  rule->cfa = reg == kRsp   ? CfaKind::kStack
              : reg == kRbp ? CfaKind::kFrame
              : reg == kRbx ? CfaKind::kBase
                            : CfaKind::kScratch;
  if (reg != kRsp && reg != kRbp && reg != kRbx && reg != kR10) return false;
  rule->cfa_words = static_cast<int16_t>(offset / 8);
  return expected_saved(frame, kRbp, &rule->frame, &rule->frame_words) &&
         expected_saved(frame, kRbx, &rule->base, &rule->base_words);
}

/// elfutils' tables and ours of one file.
class BothTables {
 public:
  explicit BothTables(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr);
    cfi_ = dwarf_getcfi_elf(elf_);
    struct stat status {};
    fstat(fd_.get(), &status);
    ObjectIdentity identity;
    identity.path = path;
    identity.inode = status.st_ino;
    identity.device = device_number(status.st_dev);
    frames_ = ObjectFrames::open(identity);
  }
  ~BothTables() {
    dwarf_cfi_end(cfi_);
    elf_end(elf_);
  }

  /// Compares at every `step`th byte of the executable segments.
  void compare(uint64_t step) {
    size_t headers = 0;
    elf_getphdrnum(elf_, &headers);
    for (size_t i = 0; i < headers; ++i) {
      GElf_Phdr segment;
      gelf_getphdr(elf_, static_cast<int>(i), &segment);
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      for (uint64_t at = 0; at < segment.p_filesz && !testing::Test::HasFailure(); at += step)
        compare_at(segment.p_vaddr + at, segment.p_offset + at);
    }
  }
  uint64_t compared = 0, covered = 0;

 private:
  void compare_at(uint64_t address, uint64_t position) {
    Dwarf_Frame* frame = nullptr;
    CfiFunction found;
    const bool theirs = dwarf_cfi_addrframe(cfi_, address, &frame) == 0,
               ours = frames_->find(position, &found);
    UnwindRule rule;
    const bool is_entry = !theirs && found.rule.cfa == CfaKind::kEnd;  // the file's entry point has no table
    EXPECT_TRUE(ours == theirs || is_entry) << std::hex << "address " << address;
    if (theirs && ours) ++covered;
    if (theirs && ours && expected_rule(frame, &rule)) {
      ++compared;
      EXPECT_EQ(found.rule, rule) << std::hex << "address " << address << std::dec << ": cfa "
                                  << int(found.rule.cfa) << " " << found.rule.cfa_words << " frame "
                                  << int(found.rule.frame) << " " << found.rule.frame_words << " base "
                                  << int(found.rule.base) << " " << found.rule.base_words;
    }
    free(frame);
  }

  UniqueFd fd_;
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
  std::unique_ptr<ObjectFrames> frames_;
};

/// Files of this process's libraries whose name contains `part`.
std::string library(const std::string& part) {
  std::pair<std::string, std::string> search{part, ""};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* found = static_cast<std::pair<std::string, std::string>*>(data);
        if (std::string(info->dlpi_name).find(found->first) != std::string::npos)
          found->second = info->dlpi_name;
        return 0;
      },
      &search);
  return search.second;
}

class CfiOracle : public testing::TestWithParam<const char*> {};

TEST_P(CfiOracle, AgreesWithElfutils) {
  const std::string path = library(GetParam());
  ASSERT_FALSE(path.empty());
  BothTables tables(path);
  tables.compare(3);
  EXPECT_GT(tables.covered, 10000u);
  EXPECT_GT(static_cast<double>(tables.compared), 0.98 * static_cast<double>(tables.covered));
}

INSTANTIATE_TEST_SUITE_P(Libraries, CfiOracle, testing::Values("libc.so", "libstdc++", "libelf", "libm.so"));

}  // namespace
}  // namespace pctally
#endif
