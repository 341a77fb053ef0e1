// A row of the table that call frame instructions describe, and the unwind rule it amounts to. x86-64.
#pragma once
#include "tick/cfi_cursor.h"
#include "tick/unwind_rule.h"

namespace pctally {

/// Registers of x86-64 in DWARF's numbers.
namespace dwarf_register {
inline constexpr uint64_t kRbx = 3, kRbp = 6, kRsp = 7, kR10 = 10;
}  // namespace dwarf_register

/// Where the caller's value of a register is.
struct CfiSaved {
  FrameKind kind = FrameKind::kSame;
  int64_t offset = 0;
  CfiCursor expression;
};

/// What a row of the table says of the registers that matter.
struct CfiRow {
  uint64_t cfa_register = UINT64_MAX;
  int64_t cfa_offset = 0;
  CfiCursor cfa_expression;
  bool cfa_computed = false;
  CfiSaved frame, base;
  bool return_undefined = false;
  bool return_moved = false;  ///< not in the word below the CFA
};

/// CfaKind::kUnsupported if a rule cannot express the row. `is_signal`: the frame is a signal
/// handler's.
UnwindRule rule_of(const CfiRow& row, bool is_signal) noexcept;

}  // namespace pctally
