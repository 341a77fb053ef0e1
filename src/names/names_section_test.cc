#include "names/names_section.h"

#include <gtest/gtest.h>

#include <cstring>

#include "names/names_writer.h"

namespace pctally {
namespace {

using Bytes = std::vector<unsigned char>;

Bytes small_section() {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1, 2}}, {.machine = 62});
  const std::vector<uint64_t> positions{0x110, 0x120, 0x210};
  const std::vector<NamedRange> ranges{{"f()", 0x100, 0x200, "_Zf", 0x1100},
                                       {"f()", 0x100, 0x200, "_Zf", 0x1100},
                                       {"[a+0x1200]", 0x200, 0x300, "", 0x1200}};
  writer.add_ranges(positions, ranges);
  writer.add_code({{{0x100, 0x200}, {.bytes = "\x90\xc3"}}});
  const std::vector<Frame> frames{{"g", "g.h", 7, ""}, {"f()", "f.cc", 9, "_Zf"}};
  writer.add_place(0x110, 4, frames);
  writer.add_place(0x114, 4, frames);
  writer.add_source("f.cc", "int f();\n", 5);
  return writer.bytes().value();
}

TEST(NamesSection, HoldsWhatWasWritten) {
  const auto section = NamesSection::parse(small_section());
  ASSERT_TRUE(section);
  ASSERT_EQ(section->objects().size(), 1u);
  EXPECT_EQ(section->text(section->objects()[0].path), "/bin/a");
  ASSERT_EQ(section->ranges(0).size(), 2u);
  const NamesRange& f = section->ranges(0)[0];
  EXPECT_EQ(f.first_hit, 0x110u);
  EXPECT_EQ(f.last_hit, 0x120u);
  EXPECT_EQ(section->text(f.name), "f()");
  EXPECT_EQ(section->text(f.linkage), "_Zf");
  EXPECT_EQ(section->text(f.code), "\x90\xc3");
  ASSERT_EQ(section->places(0).size(), 1u) << "neighbours with the same frames are one place";
  EXPECT_EQ(section->places(0)[0].bytes, 8u);
  EXPECT_EQ(section->frames(section->places(0)[0]).size(), 2u);
  ASSERT_EQ(section->sources().size(), 1u);
  EXPECT_EQ(section->text(section->sources()[0].text), "int f();\n");
}

/// Reads everything that the tables refer to.
uint64_t sum_of_text(const NamesSection& section) {
  uint64_t sum = 0;
  for (uint32_t object = 0; object < section.objects().size(); ++object) {
    sum += section.text(section.objects()[object].path).size();
    for (const NamesRange& range : section.ranges(object))
      sum += section.text(range.name).size() + section.text(range.code).size();
    for (const NamesPlace& place : section.places(object))
      for (const NamesFrame& frame : section.frames(place)) sum += section.text(frame.file).size();
  }
  for (const NamesSource& source : section.sources()) sum += section.text(source.text).size();
  return sum;
}

TEST(NamesSection, IsRefusedWhereItEndsTooEarly) {
  const Bytes sound = small_section();
  for (size_t length = 0; length < sound.size(); ++length)
    EXPECT_FALSE(NamesSection::parse(Bytes(sound.begin(), sound.begin() + static_cast<long>(length))));
}

TEST(NamesSection, HasNoByteThatLeadsOutside) {
  const Bytes sound = small_section();
  for (size_t at = 0; at < sound.size(); ++at)
    for (const unsigned char value : {0x00, 0x01, 0x7f, 0x80, 0xff}) {
      Bytes forged = sound;
      forged[at] = value;
      const auto section = NamesSection::parse(forged);
      EXPECT_LT(section ? sum_of_text(*section) : 0, 100'000u);
    }
}

template <class Record>
void expect_refused(size_t table, void (*forge)(Record*)) {
  Bytes bytes = small_section();
  NamesTable place;
  memcpy(&place, bytes.data() + table, sizeof place);
  Record record;
  memcpy(&record, bytes.data() + place.offset, sizeof record);
  forge(&record);
  memcpy(bytes.data() + place.offset, &record, sizeof record);
  EXPECT_FALSE(NamesSection::parse(bytes));
}

TEST(NamesSection, IsRefusedWhereAnythingIsOutOfOrder) {
  constexpr size_t kRanges = offsetof(NamesHead, ranges), kPlaces = offsetof(NamesHead, places);
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->object = 1; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->first_hit = range->last_hit + 1; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->last_hit = 0x1ff, range->end = 0x180; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->last_hit = 0x210, range->end = 0x400; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->name.offset = UINT32_MAX; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->code.bytes = 0x101; });
  expect_refused<NamesRange>(kRanges, [](NamesRange* range) { range->last_hit = range->end; });
  expect_refused<NamesRange>(
      kRanges, [](NamesRange* range) { range->start = range->last_hit = 0x110, range->end = 0x111; });
  expect_refused<NamesPlace>(kPlaces, [](NamesPlace* place) { place->frames = 3; });
  expect_refused<NamesPlace>(kPlaces, [](NamesPlace* place) { place->bytes = 0; });
  expect_refused<NamesPlace>(kPlaces, [](NamesPlace* place) { place->position = UINT64_MAX - 3; });
  expect_refused<NamesObject>(offsetof(NamesHead, objects),
                              [](NamesObject* object) { object->build_id_bytes = 33; });
}

Bytes place_of(size_t bytes) {
  bytes -= 2 * kBytesPerFrame;
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<Frame> frames{{std::string(bytes / 2, 'f'), "f.cc", 7},
                                  {"g", std::string(bytes - bytes / 2 - 5, 'g'), 9}};
  writer.add_place(0x110, 4, frames);
  return writer.bytes().value();
}

// Many places may share frames, which are copied for each.
TEST(NamesSection, BoundsTheFramesOfAPlace) {
  Bytes bytes = place_of(kMostPlaceBytes);
  const auto whole = NamesSection::parse(bytes);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->places(0).size(), 1u);
  EXPECT_EQ(whole->frames(whole->places(0)[0]).size(), 2u);
  NamesHead head;
  memcpy(&head, bytes.data(), sizeof head);
  NamesFrame frame;
  memcpy(&frame, bytes.data() + head.frames.offset, sizeof frame);
  ++frame.function.bytes;
  memcpy(bytes.data() + head.frames.offset, &frame, sizeof frame);
  EXPECT_FALSE(NamesSection::parse(bytes)) << "a byte more";
}

TEST(NamesWriter, LeavesOutAPlaceWhoseFramesTakeTooMuch) {
  const auto section = NamesSection::parse(place_of(kMostPlaceBytes + 1));
  ASSERT_TRUE(section);
  EXPECT_TRUE(section->places(0).empty());
}

// Each is copied: those of a large hole would take several times its size.
TEST(NamesSection, IsRefusedWhereTablesOverlap) {
  constexpr uint64_t kHole = 1024;
  Bytes bytes = small_section();
  const uint64_t hole = bytes.size();
  bytes.resize(hole + kHole);
  NamesHead head;
  memcpy(&head, bytes.data(), sizeof head);
  head.bytes = bytes.size();
  head.sources = {hole, kHole / sizeof(NamesSource)};
  memcpy(bytes.data(), &head, sizeof head);
  EXPECT_TRUE(NamesSection::parse(bytes));
  head.frames = {hole, kHole / sizeof(NamesFrame)};
  memcpy(bytes.data(), &head, sizeof head);
  EXPECT_FALSE(NamesSection::parse(bytes));
}

TEST(NamesWriter, KeepsPlacesApartThatDoNotTouch) {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<Frame> frames{{"f", "f.cc", 9}};
  writer.add_place(0x110, 4, frames);
  writer.add_place(0x118, 4, frames);
  const auto section = NamesSection::parse(writer.bytes().value());
  ASSERT_EQ(section->places(0).size(), 2u);
  EXPECT_EQ(section->places(0)[1].position, 0x118u);
}

/// A symbolizer may give a position the range before it.
TEST(NamesWriter, KeepsNoRangeForAPlaceOutside) {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<uint64_t> positions{0x110, 0x120, 0x250};
  const std::vector<NamedRange> ranges{{"f", 0x100, 0x200}, {"g", 0x100, 0x200}, {"g", 0x100, 0x200}};
  writer.add_ranges(positions, ranges);
  const auto section = NamesSection::parse(writer.bytes().value());
  ASSERT_EQ(section->ranges(0).size(), 2u) << "of two names";
  EXPECT_EQ(section->text(section->ranges(0)[1].name), "g");
  EXPECT_EQ(section->ranges(0)[1].last_hit, 0x120u);
}

/// The text of an object's ranges, as "NAME:bytes of code ".
std::string code_sizes(const NamesSection& section) {
  std::string text;
  for (const NamesRange& range : section.ranges(0))
    text += std::string(section.text(range.name)) + ':' + std::to_string(range.code.bytes) + ' ';
  return text;
}

TEST(NamesWriter, GivesEachOfTwoFunctionsWithOneStartItsOwnCode) {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<uint64_t> positions{0x108, 0x118};
  const std::vector<NamedRange> ranges{{"entry", 0x100, 0x110}, {"outer", 0x100, 0x120}};
  writer.add_ranges(positions, ranges);
  writer.add_code(
      {{{0x100, 0x110}, {.bytes = std::string(0x10, 1)}}, {{0x100, 0x120}, {.bytes = std::string(0x20, 1)}}});
  const auto bytes = writer.bytes();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(code_sizes(*NamesSection::parse(*bytes)), "entry:16 outer:32 ");
}

TEST(NamesWriter, CutsTheCodeOfALongerFunctionToTheRange) {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<uint64_t> positions{0x108, 0x118, 0x138};
  const std::vector<NamedRange> ranges{{"a", 0x100, 0x110}, {"b", 0x110, 0x120}, {"longer", 0x130, 0x140}};
  writer.add_ranges(positions, ranges);
  writer.add_code(
      {{{0x100, 0x120}, {.bytes = std::string(0x20, 1)}}, {{0x130, 0x138}, {.bytes = std::string(8, 1)}}});
  const auto bytes = writer.bytes();
  ASSERT_TRUE(bytes);
  EXPECT_EQ(code_sizes(*NamesSection::parse(*bytes)), "a:16 b:0 longer:0 ");
}

/// Code made at run time may have taken the place of longer code.
TEST(NamesWriter, CutsNoCodeOfAJit) {
  NamesWriter writer;
  writer.add_object({.kind = ExecutableIdentity::Kind::kPrivate, .path = "[jit]", .owner = 9});
  const std::vector<uint64_t> positions{0x108};
  const std::vector<NamedRange> ranges{{"a", 0x100, 0x110}};
  writer.add_ranges(positions, ranges);
  writer.add_code({{{0x100, 0x120}, {.bytes = std::string(0x20, 1)}}});
  EXPECT_EQ(code_sizes(*NamesSection::parse(writer.bytes().value())), "a:0 ");
}

TEST(NamesWriter, SaysWhetherItTookASource) {
  NamesWriter writer;
  EXPECT_TRUE(writer.add_source("a.c", std::string(kMostSource, ' '), 0));
  EXPECT_FALSE(writer.add_source("b.c", std::string(kMostSource + 1, ' '), 0));
  EXPECT_EQ(NamesSection::parse(*writer.bytes())->sources().size(), 1u);
}

TEST(NamesWriter, MakesNoSectionThatAReaderRefuses) {
  NamesWriter writer;
  writer.add_object({.path = "/bin/a", .build_id = {1}});
  const std::vector<uint64_t> positions{0x118, 0x108};
  const std::vector<NamedRange> ranges{{"a", 0x110, 0x120}, {"b", 0x100, 0x110}};
  writer.add_ranges(positions, ranges);
  EXPECT_FALSE(writer.bytes());
}

}  // namespace
}  // namespace pctally
