// A row of the table that call frame instructions describe, and the unwind rule it amounts to.
#pragma once
#include "tick/unwind/cfi_cursor.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// Those of UnwindRegisters in DWARF's numbers.
namespace dwarf_register {
#if defined(__aarch64__)
inline constexpr uint64_t kFrame = 29, kStack = 31, kBase = 30, kScratch = UINT64_MAX - 1,
                          kLink = UINT64_MAX - 2;
#else
inline constexpr uint64_t kFrame = 6, kStack = 7, kBase = 3, kScratch = 10, kLink = 5;
#endif
}  // namespace dwarf_register

/// Where the caller's value of a register is.
struct CfiSaved {
  FrameKind kind = FrameKind::kSame;
  int64_t offset = 0;
  CfiCursor expression;
};

enum class ReturnPlace : uint8_t {
  kUsual,  ///< where the machine's calls put it
  kLink,   ///< in register kLink
  kElsewhere,
};

/// What a row of the table says of the registers that matter.
struct CfiRow {
  uint64_t cfa_register = UINT64_MAX;
  int64_t cfa_offset = 0;
  CfiCursor cfa_expression;
  bool cfa_computed = false;
  CfiSaved frame, base;
  bool return_undefined = false;
  ReturnPlace return_place = ReturnPlace::kUsual;
};

/// CfaKind::kUnsupported if a rule cannot express the row. `is_signal`: the frame is a signal handler's.
UnwindRule rule_of(const CfiRow& row, bool is_signal) noexcept;

}  // namespace pctally
