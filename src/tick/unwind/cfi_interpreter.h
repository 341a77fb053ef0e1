// Runs the call frame instructions of a function, up to an address or from row to row.
//
// The bytes may be hostile: what is not understood ends the run, and so does a function of more than
// kMostInstructions. Nothing is allocated and nothing is called.
#pragma once
#include "tick/unwind/cfi_entry.h"
#include "tick/unwind/cfi_row.h"

namespace pctally {

inline constexpr unsigned kMostInstructions = 32768;  ///< of one function; cc1plus's longest needs 13,361
inline constexpr unsigned kMostRemembered = 4;        ///< one is the most that was seen

/// Word by word: some compilers make a call of memcpy of an assignment.
inline void copy_row(const void* from, void* to) noexcept {
  static_assert(sizeof(CfiRow) % sizeof(uint64_t) == 0);
  for (uint64_t at = 0; at < sizeof(CfiRow); at += sizeof(uint64_t)) {
    uint64_t word;
    __builtin_memcpy(&word, static_cast<const unsigned char*>(from) + at, sizeof word);
    __builtin_memcpy(static_cast<unsigned char*>(to) + at, &word, sizeof word);
    asm volatile("" ::: "memory");  // not a loop to be replaced by one
  }
}

/// The row of the table at an address that only grows. REQUIRES: `fde` outlives it.
class CfiInterpreter {
 public:
  explicit CfiInterpreter(const Fde& fde) noexcept : fde_(fde), at_(fde.start) {}

  /// Makes *row the function's first row before its own instructions. False if they cannot be understood.
  bool start(CfiRow* row) noexcept {
    row_ = row;
    code_ = fde_.cie.instructions;
    if (!advance_to(UINT64_MAX)) return false;
    copy_row(row, &initial_);
    at_ = fde_.start;
    code_ = fde_.instructions;
    return true;
  }

  /// Makes *row that of `address`, which is not below the one before. False if the instructions up to there
  /// cannot be understood. REQUIRES: start() was true.
  bool advance_to(uint64_t address) noexcept {
    while (code_.left() != 0 && at_ <= address) {
      if (++executed_ > kMostInstructions) return false;
      if (!execute(code_.take<uint8_t>()) || !code_.good()) return false;
    }
    return true;
  }

  /// Where the next row starts, after an advance_to() that was true.
  [[nodiscard]] uint64_t next_row() const noexcept { return code_.left() == 0 ? fde_.end : at_; }

  /// Instructions so far.
  [[nodiscard]] unsigned executed() const noexcept { return executed_; }

 private:
  bool execute(uint8_t instruction) noexcept {
    const uint64_t low = instruction & 0x3f;
    switch (instruction >> 6) {
      case 1:
        return advance(low);
      case 2:
        return save(low, scaled(code_.take_uleb()));
      case 3:
        return restore(low);
      default:
        return execute_extended(instruction);
    }
  }

  bool execute_extended(uint8_t instruction) noexcept {
    uint64_t reg = 0;
    switch (instruction) {
      case 0x00:  // nop
        return true;
      case 0x01:  // set_loc
        at_ = take_pointer(&code_, fde_.cie.encoding & pointer_encoding::kFormat, 0);
        return (fde_.cie.encoding & pointer_encoding::kApplication) == 0;
      case 0x02:  // advance_loc1, 2, 4
        return advance(code_.take<uint8_t>());
      case 0x03:
        return advance(code_.take<uint16_t>());
      case 0x04:
        return advance(code_.take<uint32_t>());
      case 0x05:  // offset_extended
        reg = code_.take_uleb();
        return save(reg, scaled(code_.take_uleb()));
      case 0x06:  // restore_extended
        return restore(code_.take_uleb());
      case 0x07:  // undefined
        return lose(code_.take_uleb(), FrameKind::kUndefined);
      case 0x08:  // same_value
        return lose(code_.take_uleb(), FrameKind::kSame);
      case 0x09:  // register
        reg = code_.take_uleb();
        return move(
            reg, code_.take_uleb() == dwarf_register::kLink ? ReturnPlace::kLink : ReturnPlace::kElsewhere);
      case 0x0a:
        return remember();
      case 0x0b:
        return recall();
#if defined(__aarch64__)
      case 0x2d:  // negate_ra_state: where return addresses are signed; a step takes every signature out
        return true;
#endif
      case 0x11:  // offset_extended_sf
        reg = code_.take_uleb();
        return save(reg, scaled(static_cast<uint64_t>(code_.take_sleb())));
      case 0x2e:  // GNU_args_size
        (void)code_.take_uleb();
        return true;
      case 0x2f:  // GNU_negative_offset_extended
        reg = code_.take_uleb();
        return save(reg, scaled(-code_.take_uleb()));
      default:
        return execute_definition(instruction);
    }
  }

  bool execute_definition(uint8_t instruction) noexcept {
    uint64_t reg = 0;
    switch (instruction) {
      case 0x0c:  // def_cfa
        reg = code_.take_uleb();
        return define(reg, static_cast<int64_t>(code_.take_uleb()));
      case 0x0d:  // def_cfa_register
        return define(code_.take_uleb(), row_->cfa_offset);
      case 0x0e:  // def_cfa_offset
        return define(row_->cfa_register, static_cast<int64_t>(code_.take_uleb()));
      case 0x12:  // def_cfa_sf
        reg = code_.take_uleb();
        return define(reg, scaled(static_cast<uint64_t>(code_.take_sleb())));
      case 0x13:  // def_cfa_offset_sf
        return define(row_->cfa_register, scaled(static_cast<uint64_t>(code_.take_sleb())));
      case 0x0f:  // def_cfa_expression
        row_->cfa_expression = code_.part(code_.take_uleb());
        row_->cfa_computed = true;
        return true;
      case 0x10:  // expression
        reg = code_.take_uleb();
        return save_by_expression(reg, code_.part(code_.take_uleb()));
      case 0x16:  // val_expression
        reg = code_.take_uleb();
        (void)code_.part(code_.take_uleb());
        return move(reg);
      case 0x14:  // val_offset, val_offset_sf
      case 0x15:
        reg = code_.take_uleb();
        (void)code_.take_uleb();
        return move(reg);
      default:
        return false;
    }
  }

  /// In units of the data alignment; what a hostile file makes overflow only wraps.
  [[nodiscard]] int64_t scaled(uint64_t count) const noexcept {
    return static_cast<int64_t>(count * static_cast<uint64_t>(fde_.cie.data_unit));
  }
  bool advance(uint64_t units) noexcept {
    at_ += units * fde_.cie.code_unit;
    return true;
  }
  bool define(uint64_t reg, int64_t offset) noexcept {
    row_->cfa_register = reg;
    row_->cfa_offset = offset;
    row_->cfa_computed = false;
    return true;
  }
  /// The place of a register that matters, else null.
  static CfiSaved* saved_of(CfiRow* row, uint64_t reg) noexcept {
    return reg == dwarf_register::kFrame ? &row->frame : reg == dwarf_register::kBase ? &row->base : nullptr;
  }
  bool save(uint64_t reg, int64_t offset) noexcept {
    if (CfiSaved* saved = saved_of(row_, reg)) {
      saved->kind = FrameKind::kSaved;
      saved->offset = offset;
    }
    if (reg == fde_.cie.return_register) {
      row_->return_undefined = false;
      row_->return_place = kReturnsInRegister || offset == -8 ? ReturnPlace::kUsual : ReturnPlace::kElsewhere;
    }
    return true;
  }
  bool save_by_expression(uint64_t reg, const CfiCursor& expression) noexcept {
    if (CfiSaved* saved = saved_of(row_, reg)) {
      saved->kind = FrameKind::kFrameOffset;
      saved->expression = expression;
    }
    if (reg == fde_.cie.return_register)
      row_->return_place = kReturnsInRegister ? ReturnPlace::kUsual : ReturnPlace::kElsewhere;
    return true;
  }
  bool lose(uint64_t reg, FrameKind kind) noexcept {
    if (CfiSaved* saved = saved_of(row_, reg)) saved->kind = kind;
    if (reg == fde_.cie.return_register) row_->return_undefined = kind == FrameKind::kUndefined;
    return true;
  }
  bool move(uint64_t reg, ReturnPlace place = ReturnPlace::kElsewhere) noexcept {
    if (CfiSaved* saved = saved_of(row_, reg)) saved->kind = FrameKind::kUnsupported;
    if (reg == fde_.cie.return_register) {
      row_->return_undefined = false;
      row_->return_place = place;
    }
    return true;
  }
  bool restore(uint64_t reg) noexcept {
    if (CfiSaved* saved = saved_of(row_, reg)) {
      const CfiSaved* initial = saved_of(&initial_, reg);
      saved->kind = initial->kind;
      saved->offset = initial->offset;
      saved->expression = initial->expression;
    }
    if (reg == fde_.cie.return_register) {
      row_->return_undefined = initial_.return_undefined;
      row_->return_place = initial_.return_place;
    }
    return true;
  }
  bool remember() noexcept {
    if (remembered_ == kMostRemembered) return false;
    copy_row(row_, stack_ + sizeof(CfiRow) * remembered_++);
    return true;
  }
  bool recall() noexcept {
    if (remembered_ == 0) return false;
    copy_row(stack_ + sizeof(CfiRow) * --remembered_, row_);
    return true;
  }

  const Fde& fde_;
  uint64_t at_;
  CfiCursor code_;
  CfiRow* row_ = nullptr;
  CfiRow initial_;
  alignas(CfiRow) unsigned char stack_[kMostRemembered *
                                       sizeof(CfiRow)];  ///< not cleared: that would call memset
  unsigned remembered_ = 0;
  unsigned executed_ = 0;
};

}  // namespace pctally
