#include "tick/cfi.h"

namespace pctally {
namespace {

constexpr unsigned kMostInstructions = 512;  ///< of one function; libLLVM's longest needs 310
constexpr unsigned kMostRemembered = 8;

// How a pointer is stored, DW_EH_PE_*.
constexpr uint8_t kOmitted = 0xff, kFormat = 0x0f, kApplication = 0x70, kRelativeToPlace = 0x10;
constexpr uint8_t kUnsigned4 = 0x03, kSorted = 0x3b;  ///< kSorted: signed, 4 bytes, relative to the header

// Registers of x86-64 in DWARF's numbers.
constexpr uint64_t kRbp = 6, kRsp = 7, kR10 = 10, kReturnAddress = 16;

/// Takes values from bytes one after another. After one that is not there all are zero and good() is false.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const unsigned char* at, const unsigned char* end) noexcept : at_(at), end_(end) {}
  // Member by member: riscv's compiler makes a call of memcpy of a copy as a whole.
  Cursor(const Cursor& other) noexcept : at_(other.at_), end_(other.end_), good_(other.good_) {}
  Cursor& operator=(const Cursor& other) noexcept {
    at_ = other.at_;
    end_ = other.end_;
    good_ = other.good_;
    return *this;
  }

  template <class T>
  T take() noexcept {
    T value{};
    if (left() < sizeof value) return fail(), value;
    __builtin_memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  uint64_t take_uleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail(), 0;
  }
  int64_t take_sleb() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) != 0) continue;
      if (shift + 7 < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    return fail(), 0;
  }
  /// The next `bytes` bytes, which are stepped over.
  Cursor part(uint64_t bytes) noexcept {
    if (left() < bytes) return fail(), Cursor();
    Cursor result(at_, at_ + bytes);
    at_ += bytes;
    return result;
  }
  [[nodiscard]] uint64_t left() const noexcept { return static_cast<uint64_t>(end_ - at_); }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] const unsigned char* at() const noexcept { return at_; }

 private:
  void fail() noexcept {
    good_ = false;
    at_ = end_;
  }
  const unsigned char* at_ = nullptr;
  const unsigned char* end_ = nullptr;
  bool good_ = true;
};

/// `address` is that of the cursor's place.
uint64_t take_pointer(Cursor* cursor, uint8_t encoding, uint64_t address) noexcept {
  uint64_t value = 0;
  switch (encoding & kFormat) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = cursor->take<uint64_t>();
      break;
    case 0x02:
      value = cursor->take<uint16_t>();
      break;
    case 0x03:
      value = cursor->take<uint32_t>();
      break;
    case 0x0a:
      value = static_cast<uint64_t>(static_cast<int64_t>(cursor->take<int16_t>()));
      break;
    case 0x0b:
      value = static_cast<uint64_t>(static_cast<int64_t>(cursor->take<int32_t>()));
      break;
    default:  // of varying length: no compiler writes them here
      (void)cursor->part(UINT64_MAX);
  }
  return (encoding & kApplication) == kRelativeToPlace ? value + address : value;
}

/// A common information entry: what many functions share.
struct Cie {
  uint64_t code_unit = 1;
  int64_t data_unit = 1;
  uint64_t return_register = kReturnAddress;
  uint8_t encoding = 0;
  bool is_signal = false;
  bool has_augmentation = false;
  Cursor instructions;
};

/// A function's entry.
struct Fde {
  Cie cie;
  uint64_t start = 0;
  uint64_t end = 0;
  Cursor instructions;
};

/// The entry at `offset` of .eh_frame without its length. The 64-bit form is not used there.
Cursor entry_at(const CfiSections& sections, uint64_t offset) noexcept {
  if (offset >= sections.frames_bytes) return {};
  Cursor cursor(sections.frames + offset, sections.frames + sections.frames_bytes);
  const auto length = cursor.take<uint32_t>();
  return length == UINT32_MAX ? Cursor() : cursor.part(length);
}

/// The letters behind the 'z', and what they bring.
bool read_augmentation(Cursor letters, Cursor* cursor, Cie* cie) noexcept {
  Cursor data = cursor->part(cursor->take_uleb());
  while (letters.left() != 0) {
    switch (letters.take<char>()) {
      case 'R':
        cie->encoding = data.take<uint8_t>();
        break;
      case 'P':
        (void)take_pointer(&data, data.take<uint8_t>(), 0);
        break;
      case 'L':
        (void)data.take<uint8_t>();
        break;
      case 'S':
        cie->is_signal = true;
        break;
      case 'B':  // aarch64
        break;
      default:
        return false;
    }
  }
  return data.good();
}

bool read_cie(const CfiSections& sections, uint64_t offset, Cie* cie) noexcept {
  Cursor cursor = entry_at(sections, offset);
  const bool is_cie = cursor.take<uint32_t>() == 0;
  const auto version = cursor.take<uint8_t>();
  if (!cursor.good() || !is_cie || (version != 1 && version != 3)) return false;
  const unsigned char* text = cursor.at();
  while (cursor.good() && cursor.take<char>() != 0) {
  }
  if (!cursor.good()) return false;
  Cursor letters(text, cursor.at() - 1);
  cie->code_unit = cursor.take_uleb();
  cie->data_unit = cursor.take_sleb();
  cie->return_register = version == 1 ? cursor.take<uint8_t>() : cursor.take_uleb();
  cie->has_augmentation = letters.left() != 0;
  if (cie->has_augmentation && (letters.take<char>() != 'z' || !read_augmentation(letters, &cursor, cie)))
    return false;
  cie->instructions = cursor;
  return cursor.good();
}

bool read_fde(const CfiSections& sections, uint64_t address, Fde* fde) noexcept {
  const uint64_t offset = address - sections.frames_address;
  Cursor cursor = entry_at(sections, offset);
  const auto distance = cursor.take<uint32_t>();
  if (!cursor.good() || distance == 0 || distance > offset + 4) return false;
  if (!read_cie(sections, offset + 4 - distance, &fde->cie)) return false;
  const auto place = static_cast<uint64_t>(cursor.at() - sections.frames);
  fde->start = take_pointer(&cursor, fde->cie.encoding, sections.frames_address + place);
  fde->end = fde->start + take_pointer(&cursor, fde->cie.encoding & kFormat, 0);
  if (fde->cie.has_augmentation) (void)cursor.part(cursor.take_uleb());
  fde->instructions = cursor;
  return cursor.good() && fde->start < fde->end;
}

/// Address of the last entry of the sorted table whose function starts at or below `address`.
bool find_entry(const CfiSections& sections, uint64_t address, uint64_t* entry) noexcept {
  Cursor cursor(sections.header, sections.header + sections.header_bytes);
  const auto version = cursor.take<uint8_t>(), frames = cursor.take<uint8_t>(),
             counted = cursor.take<uint8_t>(), sorted = cursor.take<uint8_t>();
  if (version != 1 || counted != kUnsigned4 || sorted != kSorted) return false;
  if (frames != kOmitted) (void)take_pointer(&cursor, frames, 0);
  const auto count = cursor.take<uint32_t>();
  const unsigned char* table = cursor.at();
  if (!cursor.good() || cursor.left() / 8 < count) return false;
  const auto field = [&](uint64_t index) noexcept {
    int32_t distance;
    __builtin_memcpy(&distance, table + index * sizeof distance, sizeof distance);
    return sections.header_address + static_cast<uint64_t>(static_cast<int64_t>(distance));
  };
  uint64_t low = 0;
  for (uint64_t left = count; left != 0;) {
    const uint64_t half = left / 2;
    const bool below = field((low + half) * 2) <= address;
    low += below ? half + 1 : 0;
    left = below ? left - half - 1 : half;
  }
  if (low == 0) return false;
  *entry = field(low * 2 - 1);
  return true;
}

/// What a row of the table says of the registers that matter.
struct Row {
  uint64_t cfa_register = UINT64_MAX;
  int64_t cfa_offset = 0;
  Cursor cfa_expression;
  bool cfa_computed = false;
  FrameKind frame = FrameKind::kSame;
  int64_t frame_offset = 0;
  Cursor frame_expression;
  bool return_undefined = false;
  bool return_moved = false;  ///< not in the word below the CFA
};

/// DW_OP_breg6 or 7 with a signed offset, alone or followed by a dereference and a constant to add.
bool read_slot(Cursor expression, bool* of_frame, int64_t* offset, bool* dereferenced,
               uint64_t* add) noexcept {
  constexpr uint8_t kBreg6 = 0x76, kBreg7 = 0x77, kDeref = 0x06, kPlusConstant = 0x23;
  const auto base = expression.take<uint8_t>();
  if (base != kBreg6 && base != kBreg7) return false;
  *of_frame = base == kBreg6;
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

/// DW_OP_breg7 8, breg16 0, lit15, and, LITERAL, ge, lit3, shl, plus: how linkers describe a PLT.
bool read_plt(Cursor expression, int16_t* second_half) noexcept {
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

bool read_cfa_expression(const Row& row, UnwindRule* rule) noexcept {
  bool of_frame = false, dereferenced = false;
  int64_t offset = 0;
  uint64_t add = 0;
  rule->cfa = CfaKind::kPlt;
  if (read_plt(row.cfa_expression, &rule->cfa_words)) return true;
  if (!read_slot(row.cfa_expression, &of_frame, &offset, &dereferenced, &add) || !dereferenced) return false;
  rule->cfa = of_frame ? CfaKind::kFrameSlot : CfaKind::kStackSlot;
  return to_words(offset, &rule->cfa_words) && to_words(static_cast<int64_t>(add), &rule->add_words);
}

bool read_cfa(const Row& row, UnwindRule* rule) noexcept {
  if (row.cfa_computed) return read_cfa_expression(row, rule);
  if (row.cfa_register == kRsp)
    rule->cfa = CfaKind::kStack;
  else if (row.cfa_register == kRbp)
    rule->cfa = CfaKind::kFrame;
  else if (row.cfa_register == kR10)
    rule->cfa = CfaKind::kScratch;
  else
    return false;
  return to_words(row.cfa_offset, &rule->cfa_words);
}

void read_frame(const Row& row, UnwindRule* rule) noexcept {
  bool of_frame = false, dereferenced = false;
  int64_t offset = row.frame_offset;
  uint64_t add = 0;
  rule->frame = row.frame;
  if (row.frame == FrameKind::kFrameOffset &&
      (!read_slot(row.frame_expression, &of_frame, &offset, &dereferenced, &add) || !of_frame ||
       dereferenced))
    rule->frame = FrameKind::kUnsupported;
  if (!to_words(offset, &rule->frame_words)) rule->frame = FrameKind::kUnsupported;
  // GCC's epilogues pop rbp without saying so: a slot below the stack pointer has been popped.
  if (rule->cfa == CfaKind::kStack && rule->frame == FrameKind::kSaved &&
      rule->cfa_words + rule->frame_words < 0)
    rule->frame = FrameKind::kSame;
  if (rule->frame != FrameKind::kSaved && rule->frame != FrameKind::kFrameOffset) rule->frame_words = 0;
}

UnwindRule rule_of(const Row& row, bool is_signal) noexcept {
  UnwindRule rule;
  rule.cfa = row.return_undefined ? CfaKind::kEnd : CfaKind::kSignal;
  if (row.return_undefined || is_signal) return rule;
  if (row.return_moved || !read_cfa(row, &rule)) {
    rule = {};
    rule.cfa = CfaKind::kUnsupported;
    return rule;
  }
  read_frame(row, &rule);
  return rule;
}

/// Word by word: some compilers make a call of memcpy of an assignment.
void copy_row(const void* from, void* to) noexcept {
  static_assert(sizeof(Row) % sizeof(uint64_t) == 0);
  for (uint64_t at = 0; at < sizeof(Row); at += sizeof(uint64_t)) {
    uint64_t word;
    __builtin_memcpy(&word, static_cast<const unsigned char*>(from) + at, sizeof word);
    __builtin_memcpy(static_cast<unsigned char*>(to) + at, &word, sizeof word);
    asm volatile("" ::: "memory");  // not a loop to be replaced by one
  }
}

/// Runs the call frame instructions of a function up to an address.
class Interpreter {
 public:
  Interpreter(const Fde& fde, uint64_t address) noexcept : fde_(fde), address_(address), at_(fde.start) {}

  /// False if they cannot be understood.
  bool run(Row* row) noexcept {
    row_ = row;
    if (!run(fde_.cie.instructions)) return false;
    copy_row(row, &initial_);
    at_ = fde_.start;
    return run(fde_.instructions);
  }

 private:
  bool run(Cursor instructions) noexcept {
    code_ = instructions;
    while (code_.left() != 0 && at_ <= address_) {
      if (++executed_ > kMostInstructions) return false;
      if (!execute(code_.take<uint8_t>()) || !code_.good()) return false;
    }
    return true;
  }

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
        at_ = take_pointer(&code_, fde_.cie.encoding & kFormat, 0);
        return (fde_.cie.encoding & kApplication) == 0;
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
        (void)code_.take_uleb();
        return move(reg);
      case 0x0a:
        return remember();
      case 0x0b:
        return recall();
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
  bool save(uint64_t reg, int64_t offset) noexcept {
    if (reg == kRbp) {
      row_->frame = FrameKind::kSaved;
      row_->frame_offset = offset;
    } else if (reg == fde_.cie.return_register) {
      row_->return_undefined = false;
      row_->return_moved = offset != -8;
    }
    return true;
  }
  bool save_by_expression(uint64_t reg, const Cursor& expression) noexcept {
    if (reg == kRbp) {
      row_->frame = FrameKind::kFrameOffset;
      row_->frame_expression = expression;
    } else if (reg == fde_.cie.return_register) {
      row_->return_moved = true;
    }
    return true;
  }
  bool lose(uint64_t reg, FrameKind kind) noexcept {
    if (reg == kRbp) row_->frame = kind;
    if (reg == fde_.cie.return_register) row_->return_undefined = kind == FrameKind::kUndefined;
    return true;
  }
  bool move(uint64_t reg) noexcept {
    if (reg == kRbp) row_->frame = FrameKind::kUnsupported;
    if (reg == fde_.cie.return_register) row_->return_moved = true;
    return true;
  }
  bool restore(uint64_t reg) noexcept {
    if (reg == kRbp) {
      row_->frame = initial_.frame;
      row_->frame_offset = initial_.frame_offset;
      row_->frame_expression = initial_.frame_expression;
    } else if (reg == fde_.cie.return_register) {
      row_->return_undefined = initial_.return_undefined;
      row_->return_moved = initial_.return_moved;
    }
    return true;
  }
  bool remember() noexcept {
    if (remembered_ == kMostRemembered) return false;
    copy_row(row_, stack_ + sizeof(Row) * remembered_++);
    return true;
  }
  bool recall() noexcept {
    if (remembered_ == 0) return false;
    copy_row(stack_ + sizeof(Row) * --remembered_, row_);
    return true;
  }

  const Fde& fde_;
  uint64_t address_;
  uint64_t at_;
  Cursor code_;
  Row* row_ = nullptr;
  Row initial_;
  alignas(Row) unsigned char stack_[kMostRemembered * sizeof(Row)];  ///< not cleared: that would call memset
  unsigned remembered_ = 0;
  unsigned executed_ = 0;
};

}  // namespace

bool find_cfi(const CfiSections& sections, uint64_t address, CfiFunction* found) noexcept {
  *found = {};
  uint64_t entry = 0;
  Fde fde;
  if (!find_entry(sections, address, &entry) || !read_fde(sections, entry, &fde)) return false;
  if (address < fde.start || address >= fde.end) return false;
  found->start = fde.start;
  found->end = fde.end;
  found->rule.cfa = CfaKind::kUnsupported;
  Row row;
  if (Interpreter(fde, address).run(&row)) found->rule = rule_of(row, fde.cie.is_signal);
  return true;
}

}  // namespace pctally
