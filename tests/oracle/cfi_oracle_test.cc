// Unwind rules against those of elfutils, at every byte of the code of real objects. Compared are what
// tick/unwind/cfi.h finds, the rows of ObjectFrames::rows(), and the tables that the kernel gets of them.
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <gtest/gtest.h>
#include <link.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "base/kernel/device_number.h"
#include "base/unique_fd.h"
#include "path/object_frames.h"
#ifdef PCTALLY_WITH_BPF
#include "bpf/unwind_lookup_for_test.h"
#endif

#if defined(__x86_64__)

namespace pctally {
namespace {

constexpr int kRbx = 3, kRdi = 5, kRbp = 6, kRsp = 7, kR10 = 10, kReturnAddress = 16;

/// An expression of DWARF, as elfutils hands it out.
struct Operations {
  Dwarf_Op* ops = nullptr;
  size_t count = 0;

  [[nodiscard]] bool are(std::initializer_list<int> atoms) const {
    return std::equal(ops, ops + count, atoms.begin(), atoms.end(),
                      [](const Dwarf_Op& op, int atom) { return op.atom == atom; });
  }
};

bool to_words(int64_t bytes, int16_t* words) {
  *words = static_cast<int16_t>(bytes / 8);
  return int64_t{*words} * 8 == bytes;
}

/// A register and an offset in bytes.
bool is_register_offset(const Dwarf_Op& op, int* reg, int64_t* offset) {
  const bool by_number = op.atom == DW_OP_bregx;
  *reg = by_number ? static_cast<int>(op.number) : op.atom - DW_OP_breg0;
  *offset = static_cast<int64_t>(by_number ? op.number2 : op.number);
  return by_number || (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31);
}

/// "At CFA + offset": call_frame_cfa, then nothing, or plus_uconst, or consts and plus.
bool is_cfa_offset(const Operations& where, int64_t* offset) {
  *offset = where.count > 1 ? static_cast<int64_t>(where.ops[1].number) : 0;
  return where.are({DW_OP_call_frame_cfa}) || where.are({DW_OP_call_frame_cfa, DW_OP_plus_uconst}) ||
         where.are({DW_OP_call_frame_cfa, DW_OP_consts, DW_OP_plus});
}

/// Where the caller's value of a register is.
bool expected_saved(Dwarf_Frame* frame, int reg, FrameKind* kind, int16_t* words) {
  Dwarf_Op memory[3];
  Operations where;
  int64_t offset = 0;
  int base = 0;
  if (dwarf_frame_register(frame, reg, memory, &where.ops, &where.count) != 0) return false;
  *words = 0;
  *kind = FrameKind::kSame;
  if (where.count == 0) {
    // Of a register that the table does not name elfutils says that only rbp is preserved; the psABI
    // says rbx, too.
    if (where.ops != nullptr && reg != kRbx) *kind = FrameKind::kUndefined;
  } else if (is_cfa_offset(where, &offset) && to_words(offset, words)) {
    *kind = FrameKind::kSaved;
  } else if (where.count == 2 && is_register_offset(where.ops[1], &base, &offset) && base == kRbp &&
             to_words(offset, words)) {
    *kind = FrameKind::kFrameOffset;
  } else {
    *kind = FrameKind::kUnsupported;
    *words = 0;
  }
  return true;
}

/// False if a rule cannot express it.
bool expected_cfa(const Operations& cfa, UnwindRule* rule) {
  int reg = 0;
  int64_t offset = 0;
  if (cfa.are({DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit10, DW_OP_ge, DW_OP_lit3,
               DW_OP_shl, DW_OP_plus}) ||
      cfa.are({DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3,
               DW_OP_shl, DW_OP_plus})) {
    rule->cfa = CfaKind::kPlt;
    rule->cfa_words = static_cast<int16_t>(cfa.ops[4].atom - DW_OP_lit0);
    return cfa.ops[0].number == 8 && cfa.ops[1].number == 0;
  }
  if (cfa.count == 0 || !is_register_offset(cfa.ops[0], &reg, &offset)) return false;
  if (cfa.count == 1) {
    rule->set_far_words(static_cast<int32_t>(offset / 8));
    if (int64_t{rule->far_words()} * 8 != offset) return false;
    rule->cfa = reg == kRsp   ? CfaKind::kStack
                : reg == kRbp ? CfaKind::kFrame
                : reg == kRbx ? CfaKind::kBase
                : reg == kR10 ? CfaKind::kScratch
                              : CfaKind::kUnsupported;
    return rule->cfa != CfaKind::kUnsupported;
  }
  rule->cfa = reg == kRbp ? CfaKind::kFrameSlot : CfaKind::kStackSlot;
  const bool adds = cfa.count == 3 && cfa.ops[2].atom == DW_OP_plus_uconst;
  return (reg == kRbp || reg == kRsp) && cfa.ops[1].atom == DW_OP_deref && (cfa.count == 2 || adds) &&
         to_words(offset, &rule->cfa_words) &&
         to_words(adds ? static_cast<int64_t>(cfa.ops[2].number) : 0, &rule->add_words);
}

/// The rule as elfutils has it, CfaKind::kUnsupported where it is none of ours; false where it has none.
bool expected_rule(Dwarf_Frame* frame, UnwindRule* rule) {
  Dwarf_Op memory[3];
  Operations back, cfa;
  bool is_signal = false;
  *rule = {};
  if (dwarf_frame_info(frame, nullptr, nullptr, &is_signal) < 0 ||
      dwarf_frame_register(frame, kReturnAddress, memory, &back.ops, &back.count) != 0)
    return false;
  if (back.count == 0 && back.ops != nullptr) {  // undefined
    rule->cfa = CfaKind::kEnd;
    return true;
  }
  if (is_signal) {
    rule->cfa = CfaKind::kSignal;
    return true;
  }
  int64_t offset = 0;
  const bool is_pushed = is_cfa_offset(back, &offset) && offset == -8,
             is_link = back.are({DW_OP_regx}) && back.ops[0].number == kRdi;
  if (dwarf_frame_cfa(frame, &cfa.ops, &cfa.count) != 0) return false;
  const bool is_known = (is_pushed || is_link) && expected_cfa(cfa, rule);
  if (is_known && is_link) rule->cfa = rule->cfa == CfaKind::kStack ? CfaKind::kLink : CfaKind::kUnsupported;
  if (!is_known || rule->cfa == CfaKind::kUnsupported) {
    *rule = {};
    rule->cfa = CfaKind::kUnsupported;
    return true;
  }
  return expected_saved(frame, kRbp, &rule->frame, &rule->frame_words) &&
         expected_saved(frame, kRbx, &rule->base, &rule->base_words);
}

std::string text_of(const UnwindRule& rule) {
  const auto number = [](auto value) { return " " + std::to_string(static_cast<int>(value)); };
  return "cfa" + number(rule.cfa) + number(rule.cfa_words) + number(rule.add_words) + " frame" +
         number(rule.frame) + number(rule.frame_words) + " base" + number(rule.base) +
         number(rule.base_words);
}

#ifdef PCTALLY_WITH_BPF
/// As the BPF program looks rules up.
class KernelTable {
 public:
  explicit KernelTable(const std::vector<UnwindRow>& rows) { table_ = RuleTables(memory_.data()).add(rows); }
  [[nodiscard]] bool has_room() const { return table_ != PCTALLY_TABLE_UNKNOWN; }
  [[nodiscard]] UnwindRule at(uint64_t position) const {
    return find_rule_in(memory_.data(), table_, position);
  }

 private:
  std::vector<unsigned char> memory_ = std::vector<unsigned char>(PCTALLY_RULE_BYTES);
  uint32_t table_ = PCTALLY_TABLE_UNKNOWN;
};
#endif

/// The rows of an object, asked for at positions that only grow.
class Rows {
 public:
  explicit Rows(std::vector<UnwindRow> rows) : rows_(std::move(rows)) {}
  const UnwindRule& at(uint64_t position) {
    while (next_ < rows_.size() && rows_[next_].position <= position) ++next_;
    return next_ == 0 ? none_ : rows_[next_ - 1].rule;
  }
  [[nodiscard]] const std::vector<UnwindRow>& all() const { return rows_; }

 private:
  std::vector<UnwindRow> rows_;
  size_t next_ = 0;
  const UnwindRule none_{};
};

/// elfutils' tables and ours of one file.
class BothTables {
 public:
  explicit BothTables(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)), frames_(ObjectFrames::open(identity_of(path))) {
    elf_version(EV_CURRENT);
    elf_ = elf_begin(fd_.get(), ELF_C_READ_MMAP, nullptr);
    cfi_ = dwarf_getcfi_elf(elf_);
  }
  ~BothTables() {
    dwarf_cfi_end(cfi_);
    elf_end(elf_);
  }

  /// Compares at every byte of the executable segments.
  void compare() {
    size_t headers = 0;
    elf_getphdrnum(elf_, &headers);
    for (size_t i = 0; i < headers; ++i) {
      GElf_Phdr segment;
      gelf_getphdr(elf_, static_cast<int>(i), &segment);
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) compare_segment(segment);
    }
  }

  /// Entries of functions in .eh_frame.
  [[nodiscard]] uint64_t count_entries() const {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
      size_t names = 0;
      GElf_Shdr header;
      elf_getshdrstrndx(elf_, &names);
      gelf_getshdr(section, &header);
      if (std::string_view(elf_strptr(elf_, names, header.sh_name)) == ".eh_frame")
        return count_entries_of(elf_rawdata(section, nullptr));
    }
    return 0;
  }

  uint64_t functions = 0, rows = 0, unsupported = 0, bytes = 0, different = 0;
  std::string first;  ///< of the differences

 private:
  static ObjectIdentity identity_of(const std::string& path) {
    struct stat status {};
    stat(path.c_str(), &status);
    ObjectIdentity identity;
    identity.path = path;
    identity.inode = status.st_ino;
    identity.device = device_number(status.st_dev);
    return identity;
  }

  [[nodiscard]] uint64_t count_entries_of(Elf_Data* data) const {
    const auto* ident = reinterpret_cast<const unsigned char*>(elf_getident(elf_, nullptr));
    uint64_t count = 0;
    Dwarf_Off next = 0;
    Dwarf_CFI_Entry entry;
    for (Dwarf_Off at = 0; dwarf_next_cfi(ident, data, true, at, &next, &entry) == 0; at = next)
      count += dwarf_cfi_cie_p(&entry) ? 0 : 1;
    return count;
  }

  /// From row to row of elfutils, and byte by byte where it has none.
  void compare_segment(const GElf_Phdr& segment) {
    const uint64_t end = segment.p_vaddr + segment.p_filesz;
    for (uint64_t address = segment.p_vaddr; address < end;) {
      Dwarf_Frame* frame = nullptr;
      UnwindRule rule;
      Dwarf_Addr row_end = address + 1;
      const bool covered = dwarf_cfi_addrframe(cfi_, address, &frame) == 0;
      if (covered) {
        dwarf_frame_info(frame, nullptr, &row_end, nullptr);
        if (!expected_rule(frame, &rule)) note(address, "elfutils fails");
        ++rows;
        unsupported += rule.cfa == CfaKind::kUnsupported ? 1 : 0;
      }
      free(frame);
      for (; address < std::min<uint64_t>(row_end, end); ++address)
        compare_at(address, address - segment.p_vaddr + segment.p_offset, covered, rule);
    }
  }

  void compare_at(uint64_t address, uint64_t position, bool covered, const UnwindRule& rule) {
    CfiFunction found;
    const bool ours = frames_->find(position, &found);
    ++bytes;
    if (covered && found.start != function_) ++functions;
    function_ = covered ? found.start : UINT64_MAX;
    // The file's entry point, and the returns of clone.
    const bool is_known = found.rule.cfa == CfaKind::kEnd || found.rule.cfa == CfaKind::kCalled;
    if (!(ours && !covered && is_known) && (ours != covered || !(found.rule == rule)))
      note(address, "elfutils has " + text_of(rule) + ", find() " + text_of(found.rule));
    if (!(rows_.at(position) == found.rule))
      note(address, "rows() has " + text_of(rows_.at(position)) + ", find() " + text_of(found.rule));
#ifdef PCTALLY_WITH_BPF
    if (!(kernel_.at(position) == found.rule))
      note(address, "the kernel has " + text_of(kernel_.at(position)) + ", find() " + text_of(found.rule));
#endif
  }

  void note(uint64_t address, const std::string& what) {
    if (different++ != 0) return;
    char text[32];
    snprintf(text, sizeof text, "%#lx: ", static_cast<unsigned long>(address));
    first = text + what;
  }

  UniqueFd fd_;
  std::unique_ptr<ObjectFrames> frames_;
  Rows rows_{*frames_->rows()};
#ifdef PCTALLY_WITH_BPF
  KernelTable kernel_{rows_.all()};
#endif
  uint64_t function_ = UINT64_MAX;  ///< found last
  Elf* elf_ = nullptr;
  Dwarf_CFI* cfi_ = nullptr;
};

/// A library of this process whose name contains `part`.
std::set<std::string> library(const std::string& part) {
  std::pair<std::string, std::set<std::string>> search{part, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* found = static_cast<std::pair<std::string, std::set<std::string>>*>(data);
        if (std::string(info->dlpi_name).find(found->first) != std::string::npos)
          found->second.insert(info->dlpi_name);
        return 0;
      },
      &search);
  return search.second;
}

/// Files that match, each once.
std::set<std::string> installed(const std::string& pattern) {
  glob_t matches{};
  std::set<std::string> found;
  glob(pattern.c_str(), GLOB_BRACE, nullptr, &matches);
  for (size_t i = 0; i < matches.gl_pathc; ++i) {
    char* file = realpath(matches.gl_pathv[i], nullptr);
    if (file != nullptr) found.insert(file);
    free(file);
  }
  globfree(&matches);
  return found;
}

struct Object {
  const char* name;
  const char* where;  ///< a pattern of paths; else a part of the name of a library of this process
};

class CfiOracle : public testing::TestWithParam<Object> {};

TEST_P(CfiOracle, AgreesWithElfutilsAtEveryByte) {
  const std::string where = GetParam().where;
  const std::set<std::string> paths = where[0] == '/' ? installed(where) : library(where);
  if (paths.empty()) GTEST_SKIP() << GetParam().name << " is not installed";
  for (const std::string& path : paths) {
    BothTables tables(path);
    tables.compare();
    std::cout << path << ": " << tables.functions << " functions, " << tables.rows << " rows, "
              << tables.bytes << " bytes: " << tables.different << " differences; " << tables.unsupported
              << " rows that no rule expresses\n";
    EXPECT_EQ(tables.different, 0u) << tables.first;
    EXPECT_EQ(tables.functions, tables.count_entries());
    EXPECT_LT(100 * tables.unsupported, 2 * tables.rows);
  }
}

std::string name_of(const testing::TestParamInfo<Object>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Libraries, CfiOracle,
                         testing::Values(Object{"libc", "libc.so"}, Object{"libstdcxx", "libstdc++"},
                                         Object{"libelf", "libelf"}, Object{"libm", "libm.so"},
                                         Object{"dynamic_linker", "ld-linux"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Large, CfiOracle,
                         testing::Values(Object{"libpython", "/usr/lib/*/libpython3.*.so.1.0"},
                                         Object{"sqlite", "/usr/lib/*/libsqlite3.so.0"},
                                         Object{"libcrypto", "/usr/lib/*/libcrypto.so.3"},
                                         Object{"cc1plus", "/usr/lib/gcc/*/*/cc1plus"},
                                         Object{"node", "/usr/{local/,}bin/node"},
                                         Object{"libLLVM", "/usr/lib/*/libLLVM-14.so.1"}),
                         name_of);

}  // namespace
}  // namespace pctally
#endif
