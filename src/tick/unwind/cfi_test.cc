#include "tick/unwind/cfi.h"

#include <gtest/gtest.h>

#include <string.h>

#include <limits>
#include <vector>

#include "tick/unwind/cfi_interpreter.h"

// Its tables are written down so; elsewhere no path is followed.
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;
namespace dwarf = dwarf_register;

CfiCursor cursor_of(const Bytes& bytes) { return {bytes.data(), bytes.data() + bytes.size()}; }

TEST(CfiCursor, NumbersOfVaryingLengthAreThoseOfTheStandard) {
  for (const auto& [bytes, value] : std::vector<std::pair<Bytes, uint64_t>>{
           {{0x02}, 2}, {{0x7f}, 127}, {{0x80, 0x01}, 128}, {{0x81, 0x01}, 129}, {{0xb9, 0x64}, 12857}}) {
    CfiCursor cursor = cursor_of(bytes);
    EXPECT_EQ(cursor.take_uleb(), value);
  }
  for (const auto& [bytes, value] : std::vector<std::pair<Bytes, int64_t>>{{{0x02}, 2},
                                                                           {{0x7e}, -2},
                                                                           {{0x20}, 32},
                                                                           {{0x3f}, 63},
                                                                           {{0x40}, -64},
                                                                           {{0xff, 0x00}, 127},
                                                                           {{0x81, 0x7f}, -127},
                                                                           {{0x80, 0x01}, 128},
                                                                           {{0x80, 0x7f}, -128},
                                                                           {{0xff, 0x7e}, -129}}) {
    CfiCursor cursor = cursor_of(bytes);
    EXPECT_EQ(cursor.take_sleb(), value);
  }
}

TEST(CfiCursor, PointersKeepTheirSign) {
  const Bytes bytes{0xf0, 0xff, 0xff, 0xff};
  for (const auto& [encoding, value] : std::vector<std::pair<uint8_t, uint64_t>>{
           {0x1b, 0x1000 - 16}, {0x0b, UINT64_MAX - 15}, {0x03, 0xfffffff0}, {0x0a, UINT64_MAX - 15}}) {
    CfiCursor cursor = cursor_of(bytes);
    EXPECT_EQ(take_pointer(&cursor, encoding, 0x1000), value) << int{encoding};
  }
}

/// A function from 0x100 to 0x200 whose table begins with CFA = stack pointer + 8, the return address saved
/// at CFA - 8.
class CfiInterpreterTest : public testing::Test {
 protected:
  static constexpr unsigned char kReturn = 16;  ///< as x86-64 numbers it

  /// False if the row there is not understood.
  bool run(const Bytes& instructions, uint64_t address) {
    fde_.cie.data_unit = -8;
    fde_.cie.return_register = kReturn;
    fde_.cie.instructions = cursor_of(first_);
    fde_.start = 0x100;
    fde_.end = 0x200;
    fde_.instructions = cursor_of(instructions);
    row_ = {};
    CfiInterpreter interpreter(fde_);
    return interpreter.start(&row_) && interpreter.advance_to(address);
  }

  Bytes first_ = {0x0c, dwarf::kStack, 8, 0x80 | kReturn, 1, 0x80 | dwarf::kFrame, 5};
  Fde fde_;
  CfiRow row_;
};

TEST_F(CfiInterpreterTest, ARowBeginsAtItsAddress) {
  const Bytes instructions{0x44, 0x0e, 16, 0x02, 0x20, 0x0e, 24};
  for (const auto& [address, offset] : std::vector<std::pair<uint64_t, int64_t>>{
           {0x100, 8}, {0x103, 8}, {0x104, 16}, {0x123, 16}, {0x124, 24}, {0x1ff, 24}}) {
    EXPECT_TRUE(run(instructions, address));
    EXPECT_EQ(row_.cfa_offset, offset) << address;
  }
}

/// As on machines whose instructions are of 4 bytes each.
TEST_F(CfiInterpreterTest, AddressesAdvanceByUnitsOfCode) {
  fde_.cie.code_unit = 4;
  for (const Bytes& advance : {Bytes{0x44}, Bytes{0x02, 4}, Bytes{0x03, 4, 0}, Bytes{0x04, 4, 0, 0, 0}}) {
    Bytes instructions = advance;
    instructions.insert(instructions.end(), {0x0e, 16});
    EXPECT_TRUE(run(instructions, 0x10f));
    EXPECT_EQ(row_.cfa_offset, 8);
    EXPECT_TRUE(run(instructions, 0x110));
    EXPECT_EQ(row_.cfa_offset, 16);
  }
}

TEST_F(CfiInterpreterTest, OffsetsAreInUnitsOfData) {
  EXPECT_TRUE(run({0x80 | dwarf::kFrame, 2}, 0x100));
  EXPECT_EQ(row_.frame.offset, -16);
  EXPECT_TRUE(run({0x05, dwarf::kBase, 3}, 0x100));
  EXPECT_EQ(row_.base.offset, -24);
  EXPECT_TRUE(run({0x11, dwarf::kBase, 0x7d}, 0x100)) << "offset_extended_sf, -3";
  EXPECT_EQ(row_.base.offset, 24);
  EXPECT_TRUE(run({0x2f, dwarf::kBase, 3}, 0x100)) << "GNU_negative_offset_extended";
  EXPECT_EQ(row_.base.offset, 24);
  EXPECT_TRUE(run({0x13, 0x7e}, 0x100)) << "def_cfa_offset_sf, -2";
  EXPECT_EQ(row_.cfa_offset, 16);
  EXPECT_TRUE(run({0x12, dwarf::kFrame, 0x7e}, 0x100)) << "def_cfa_sf";
  EXPECT_EQ(row_.cfa_register, dwarf::kFrame);
  EXPECT_EQ(row_.cfa_offset, 16);
}

TEST_F(CfiInterpreterTest, WhatIsRestoredIsAsItWasFirst) {
  EXPECT_TRUE(run({0x80 | dwarf::kFrame, 2, 0x07, kReturn, 0xc0 | dwarf::kFrame, 0xc0 | kReturn}, 0x100));
  EXPECT_EQ(row_.frame.kind, FrameKind::kSaved);
  EXPECT_EQ(row_.frame.offset, -40);
  EXPECT_FALSE(row_.return_undefined);
  EXPECT_TRUE(run({0x09, kReturn, 1, 0x06, kReturn}, 0x100)) << "moved to a register, and restored";
  EXPECT_EQ(row_.return_place, ReturnPlace::kUsual);
}

TEST_F(CfiInterpreterTest, ARememberedRowComesBack) {
  EXPECT_TRUE(run({0x0a, 0x0e, 64, 0x07, dwarf::kFrame, 0x0b}, 0x100));
  EXPECT_EQ(row_.cfa_offset, 8);
  EXPECT_EQ(row_.frame.kind, FrameKind::kSaved);
  EXPECT_FALSE(run({0x0b}, 0x100)) << "nothing was remembered";
}

TEST_F(CfiInterpreterTest, ADefinitionTakesThePlaceOfAnExpression) {
  const Bytes expression{0x0f, 3, 0x70 | dwarf::kStack, 8, 0x06};
  EXPECT_TRUE(run(expression, 0x100));
  EXPECT_TRUE(row_.cfa_computed);
  Bytes both = expression;
  both.insert(both.end(), {0x0c, dwarf::kFrame, 16});
  EXPECT_TRUE(run(both, 0x100));
  EXPECT_FALSE(row_.cfa_computed);
}

TEST_F(CfiInterpreterTest, LostRegistersAreNotTheCallers) {
  EXPECT_TRUE(run({0x07, dwarf::kFrame, 0x08, dwarf::kBase}, 0x100));
  EXPECT_EQ(row_.frame.kind, FrameKind::kUndefined);
  EXPECT_EQ(row_.base.kind, FrameKind::kSame);
  EXPECT_TRUE(run({0x07, kReturn}, 0x100));
  EXPECT_EQ(rule_of(row_, false).cfa, CfaKind::kEnd);
}

#if defined(__x86_64__)
TEST_F(CfiInterpreterTest, AReturnAddressSavedElsewhereHasNoRule) {
  EXPECT_TRUE(run({0x80 | kReturn, 2}, 0x100));
  EXPECT_EQ(rule_of(row_, false).cfa, CfaKind::kUnsupported);
}
#endif

TEST_F(CfiInterpreterTest, RulesAreOfWholeWords) {
  EXPECT_TRUE(run({0x0e, 24}, 0x100));
  EXPECT_EQ(rule_of(row_, false).far_words(), 3);
  EXPECT_TRUE(run({0x0e, 20}, 0x100));
  EXPECT_EQ(rule_of(row_, false).cfa, CfaKind::kUnsupported);
}

/// What lies at frame or stack pointer + 16, and 24 more.
TEST_F(CfiInterpreterTest, TheCfaMayLieInASlot) {
  for (const auto& [reg, kind] :
       {std::pair(dwarf::kFrame, CfaKind::kFrameSlot), std::pair(dwarf::kStack, CfaKind::kStackSlot)}) {
    const Bytes instructions{0x0f, 5, static_cast<unsigned char>(0x70 + reg), 16, 0x06, 0x23, 24};
    EXPECT_TRUE(run(instructions, 0x100));
    const UnwindRule rule = rule_of(row_, false);
    EXPECT_EQ(rule.cfa, kind);
    EXPECT_EQ(rule.cfa_words, 2);
    EXPECT_EQ(rule.add_words, 3);
  }
}

/// At the frame pointer - 16; a rule has no slots of the stack pointer.
TEST_F(CfiInterpreterTest, RegistersMayBeSavedAtTheFramePointer) {
  for (const uint64_t reg : {dwarf::kFrame, dwarf::kStack}) {
    const Bytes instructions{0x10, dwarf::kBase, 2, static_cast<unsigned char>(0x70 + reg), 0x70};
    EXPECT_TRUE(run(instructions, 0x100));
    const UnwindRule rule = rule_of(row_, false);
    EXPECT_EQ(rule.base, reg == dwarf::kFrame ? FrameKind::kFrameOffset : FrameKind::kUnsupported);
    EXPECT_EQ(rule.base_words, reg == dwarf::kFrame ? -2 : 0);
  }
}

/// Tables of one function from 0x100 to 0x140, whose sorted table says `listed` of it.
struct Sections {
  Bytes frames, header;
  CfiSections sections;

  Sections(const Bytes& cie_rest, uint32_t listed, int32_t to_cie_more = 0) {
    const auto put = [](Bytes* bytes, uint32_t word) {
      for (unsigned i = 0; i < 4; ++i) bytes->push_back(static_cast<unsigned char>(word >> 8 * i));
    };
    put(&frames, static_cast<uint32_t>(4 + cie_rest.size()));
    put(&frames, 0);
    frames.insert(frames.end(), cie_rest.begin(), cie_rest.end());
    const auto fde = static_cast<uint32_t>(frames.size());
    put(&frames, 13);
    put(&frames, fde + 4 + static_cast<uint32_t>(to_cie_more));
    put(&frames, 0x100);
    put(&frames, 0x40);
    frames.push_back(0);
    header = {1, 0xff, 0x03, 0x3b};
    put(&header, 1);
    put(&header, listed - kHeader);
    put(&header, kFrames + fde - kHeader);
    sections = {header.data(), header.size(), kHeader, frames.data(), frames.size(), kFrames};
  }
  static constexpr uint32_t kHeader = 0x1000, kFrames = 0x2000;
};

/// "zR", code in bytes, data in words downwards; encoded as unsigned numbers of 4 bytes.
Bytes cie(unsigned char version, const Bytes& return_register) {
  Bytes bytes{version, 'z', 'R', 0, 1, 0x78};
  bytes.insert(bytes.end(), return_register.begin(), return_register.end());
  bytes.insert(bytes.end(), {1, 0x03, 0x0c, dwarf::kStack, 8});
  return bytes;
}

TEST(CfiEntry, HasItsFunctionFromTheFirstByteToTheLast) {
  const Sections tables(cie(1, {16}), 0x100);
  CfiFunction found;
  for (const uint64_t address : {0x100, 0x13f}) {
    EXPECT_TRUE(find_cfi(tables.sections, address, &found)) << address;
    EXPECT_EQ(found.start, 0x100u);
    EXPECT_EQ(found.end, 0x140u);
    EXPECT_EQ(found.rule.cfa, CfaKind::kStack);
  }
  for (const uint64_t address : {0xff, 0x140}) EXPECT_FALSE(find_cfi(tables.sections, address, &found));
}

/// The table says that it starts before.
TEST(CfiEntry, HasNothingBeforeItsFunction) {
  const Sections tables(cie(1, {16}), 0xf0);
  CfiFunction found;
  EXPECT_FALSE(find_cfi(tables.sections, 0xf8, &found));
  EXPECT_TRUE(find_cfi(tables.sections, 0x100, &found));
}

/// There the number of the register of return addresses may be longer than a byte.
TEST(CfiEntry, MayBeOfVersion3) {
  const Sections tables(cie(3, {0x90, 0x00}), 0x100);
  CfiFunction found;
  EXPECT_TRUE(find_cfi(tables.sections, 0x110, &found));
  EXPECT_EQ(found.rule.cfa, CfaKind::kStack);
}

TEST(CfiEntry, WhoseCommonPartWouldLieBeforeTheSectionIsNotRead) {
  const Sections tables(cie(1, {16}), 0x100, 4);
  CfiFunction found;
  EXPECT_TRUE(find_cfi(tables.sections, 0x110, &found));
  EXPECT_EQ(found.rule.cfa, CfaKind::kUnsupported);
  EXPECT_EQ(found.start, 0x100u);
  EXPECT_EQ(found.end, 0x111u);
}

}  // namespace
}  // namespace pctally

#endif
