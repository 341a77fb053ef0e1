#include "tick/unwind/cfi_row.h"

namespace pctally {
namespace {

/// DW_OP_breg of the frame or the stack pointer with a signed offset, alone or followed by a dereference and
/// a constant to add.
bool read_slot(CfiCursor expression, bool* of_frame, int64_t* offset, bool* dereferenced,
               uint64_t* add) noexcept {
  constexpr uint8_t kBreg0 = 0x70, kDeref = 0x06, kPlusConstant = 0x23;
  const auto base = expression.take<uint8_t>();
  if (base != kBreg0 + dwarf_register::kFrame && base != kBreg0 + dwarf_register::kStack) return false;
  *of_frame = base == kBreg0 + dwarf_register::kFrame;
  *offset = expression.take_sleb();
  *dereferenced = expression.left() != 0;
  if (*dereferenced && expression.take<uint8_t>() != kDeref) return false;
  if (expression.left() != 0) {
    if (expression.take<uint8_t>() != kPlusConstant) return false;
    *add = expression.take_uleb();
  }
  return expression.good() && expression.left() == 0;
}

bool to_words(int64_t bytes, int16_t* words) noexcept {
  *words = static_cast<int16_t>(bytes / 8);
  return int64_t{*words} * 8 == bytes;
}

/// DW_OP_breg7 8, breg16 0, lit15, and, LITERAL, ge, lit3, shl, plus: how linkers describe a PLT of x86-64.
bool read_plt(CfiCursor expression, int16_t* second_half) noexcept {
  constexpr uint8_t kBefore[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a}, kAfter[] = {0x2a, 0x33, 0x24, 0x22};
  constexpr uint8_t kLiteral0 = 0x30;
  for (const uint8_t byte : kBefore)
    if (expression.take<uint8_t>() != byte) return false;
  const auto literal = expression.take<uint8_t>();
  *second_half = static_cast<int16_t>(literal - kLiteral0);
  for (const uint8_t byte : kAfter)
    if (expression.take<uint8_t>() != byte) return false;
  return expression.good() && expression.left() == 0 && literal >= kLiteral0 && *second_half < 16;
}

bool read_cfa_expression(const CfiRow& row, UnwindRule* rule) noexcept {
  bool of_frame = false, dereferenced = false;
  int64_t offset = 0;
  uint64_t add = 0;
  rule->cfa = CfaKind::kPlt;
  if (read_plt(row.cfa_expression, &rule->cfa_words)) return true;
  if (!read_slot(row.cfa_expression, &of_frame, &offset, &dereferenced, &add) || !dereferenced) return false;
  rule->cfa = of_frame ? CfaKind::kFrameSlot : CfaKind::kStackSlot;
  return to_words(offset, &rule->cfa_words) && to_words(static_cast<int64_t>(add), &rule->add_words);
}

bool read_cfa(const CfiRow& row, UnwindRule* rule) noexcept {
  if (row.cfa_computed) return read_cfa_expression(row, rule);
  if (row.cfa_register == dwarf_register::kStack)
    rule->cfa = CfaKind::kStack;
  else if (row.cfa_register == dwarf_register::kFrame)
    rule->cfa = CfaKind::kFrame;
  else if (row.cfa_register == dwarf_register::kBase)
    rule->cfa = CfaKind::kBase;
  else if (row.cfa_register == dwarf_register::kScratch)
    rule->cfa = CfaKind::kScratch;
  else
    return false;
  const auto words = static_cast<int32_t>(row.cfa_offset / 8);
  rule->set_far_words(words);
  return int64_t{words} * 8 == row.cfa_offset;
}

void read_saved(const CfiSaved& saved, FrameKind* kind, int16_t* words) noexcept {
  bool of_frame = false, dereferenced = false;
  int64_t offset = saved.offset;
  uint64_t add = 0;
  *kind = saved.kind;
  if (saved.kind == FrameKind::kFrameOffset &&
      (!read_slot(saved.expression, &of_frame, &offset, &dereferenced, &add) || !of_frame || dereferenced))
    *kind = FrameKind::kUnsupported;
  if (!to_words(offset, words)) *kind = FrameKind::kUnsupported;
  if (*kind != FrameKind::kSaved && *kind != FrameKind::kFrameOffset) *words = 0;
}

}  // namespace

UnwindRule rule_of(const CfiRow& row, bool is_signal) noexcept {
  UnwindRule rule;
  rule.cfa = row.return_undefined ? CfaKind::kEnd : CfaKind::kSignal;
  if (row.return_undefined || is_signal) return rule;
  bool understood = row.return_place != ReturnPlace::kElsewhere && read_cfa(row, &rule);
  if (understood && row.return_place == ReturnPlace::kLink) {
    understood = rule.cfa == CfaKind::kStack;
    rule.cfa = CfaKind::kLink;
  }
  if (!understood) {
    rule = {};
    rule.cfa = CfaKind::kUnsupported;
    return rule;
  }
  read_saved(row.frame, &rule.frame, &rule.frame_words);
  read_saved(row.base, &rule.base, &rule.base_words);
  return rule;
}

}  // namespace pctally
