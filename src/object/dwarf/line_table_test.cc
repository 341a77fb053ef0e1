#include "object/dwarf/line_table.h"

#include <gmock/gmock.h>

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;

/// A table of DWARF 4 without files, whose special opcodes step a byte per 10 and a line per 1.
Bytes table(const Bytes& program) {
  const Bytes rest{1, 1, 1, 0, 10, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0};
  Bytes bytes{static_cast<unsigned char>(6 + rest.size() + program.size()), 0, 0, 0, 4, 0};
  bytes.insert(bytes.end(), {static_cast<unsigned char>(rest.size()), 0, 0, 0});
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  bytes.insert(bytes.end(), program.begin(), program.end());
  return bytes;
}

Bytes joined(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes at(unsigned char high, unsigned char low) { return {0, 5, 2, low, high, 0, 0}; }
const Bytes kEnd{2, 1, 0, 1, 1};  ///< one byte on

std::vector<std::string> texts(const std::vector<LineRow>& rows) {
  std::vector<std::string> result;
  for (const LineRow& row : rows) {
    char text[64];
    snprintf(text, sizeof text, "%llx %s%u", static_cast<unsigned long long>(row.address),
             row.ends ? "end " : "", row.line);
    result.emplace_back(text);
  }
  return result;
}

TEST(LineTable, KeepsSequencesThatBeginInTheText) {
  // A dropped function of 0x30 bytes from 0 on, and the text from 0x10 on.
  const Bytes dropped = joined({at(0, 0), {1}, {2, 0x18, 3, 40, 1}, kEnd});
  const Bytes second = joined({at(0, 0x20), {14}, {24}, kEnd});
  const Bytes first = joined({at(0, 0x10), {3, 9, 1}, {2, 0xf, 1}, kEnd});
  EXPECT_THAT(texts(line_rows(table(joined({dropped, second, first})), {0x10, 0x30})),
              testing::ElementsAre("10 10", "1f 10", "20 end 10", "20 2", "21 3", "22 end 3"));
  EXPECT_THAT(line_rows(table(dropped), {0x10, 0x30}), testing::IsEmpty());
}

/// Of 24 bytes here, 242 over 10 lines; and of as many as its 16 bits say.
TEST(LineTable, AdvancesByTheStandardInstructions) {
  const Bytes bytes = table(joined({at(0, 0x10), {1}, {8, 1}, {9, 0x05, 0x01, 1}, kEnd}));
  EXPECT_THAT(texts(line_rows(bytes, {0x10, 0x1000})),
              testing::ElementsAre("10 1", "28 1", "12d 1", "12e end 1"));
}

/// As on machines whose instructions are of 4 bytes each.
TEST(LineTable, AdvancesByInstructionsOfTheirSize) {
  Bytes bytes = table(joined({at(0, 0x10), {1}, {2, 3, 1}, {24}, {9, 2, 0, 1}, {2, 1, 0, 1, 1}}));
  bytes[10] = 4;
  EXPECT_THAT(texts(line_rows(bytes, {0x10, 0x1000})),
              testing::ElementsAre("10 1", "1c 1", "20 2", "22 2", "26 end 2"));
}

TEST(LineTable, ADiscriminatorIsOfOneRow) {
  const Bytes bytes = table(joined({at(0, 0x10), {0, 2, 4, 7, 1}, {24}, kEnd}));
  const std::vector<LineRow> rows = line_rows(bytes, {0x10, 0x30});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].discriminator, 7u);
  EXPECT_EQ(rows[1].discriminator, 0u);
}

/// With lengths of 64 bits.
TEST(LineTable, MayBeOf64BitDwarf) {
  const Bytes narrow = table(joined({at(0, 0x10), {3, 9, 1}, kEnd}));
  Bytes wide{0xff, 0xff, 0xff, 0xff, static_cast<unsigned char>(narrow[0] + 4), 0, 0, 0, 0, 0, 0, 0};
  wide.insert(wide.end(), narrow.begin() + 4, narrow.begin() + 10);
  wide.insert(wide.end(), 4, 0);
  wide.insert(wide.end(), narrow.begin() + 10, narrow.end());
  EXPECT_THAT(texts(line_rows(wide, {0x10, 0x30})), testing::ElementsAre("10 10", "11 end 10"));
}

/// GCC writes them; behind the end there may be code without lines.
TEST(LineTable, ARowAtTheEndOfItsSequenceIsNotInForceBehindIt) {
  const Bytes bytes = table(joined({at(0, 0x10), {1}, {24}, {0, 1, 1}}));
  EXPECT_THAT(texts(line_rows(bytes, {0x10, 0x30})), testing::ElementsAre("10 1", "11 end 2"));
}

TEST(LineTable, OfADamagedProgramTheWholeSequencesCount) {
  const Bytes whole = joined({at(0, 0x10), {3, 9, 1}, kEnd});
  const Bytes bytes = table(joined({whole, at(0, 0x20), {1, 3, 0xff}}));
  EXPECT_THAT(texts(line_rows(bytes, {0x10, 0x30})), testing::ElementsAre("10 10", "11 end 10"));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_LE(line_rows(std::span(bytes).first(size), {0x10, 0x30}).size(), 2u);
}

}  // namespace
}  // namespace pctally
