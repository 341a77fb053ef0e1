#include "monfile/read/gmon_out.h"

#include <gmock/gmock.h>

#include "monfile/read/bytes_for_test.h"

namespace pctally {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bytes header(ByteLayout layout, int32_t version = 1) {
  return Bytes(layout).text("gmon", 4).number(version).text("", 12);
}

Bytes& histogram(Bytes& bytes, uint64_t low, uint64_t high, std::initializer_list<uint16_t> counters,
                 int32_t hertz = 100) {
  bytes.number(uint8_t{0}).word(low).word(high).number(static_cast<int32_t>(counters.size())).number(hertz);
  return bytes.text("seconds", 15).text("s", 1).counters(counters);
}

Bytes& arc(Bytes& bytes, uint64_t from, uint64_t self, int32_t calls) {
  return bytes.number(uint8_t{1}).word(from).word(self).number(calls);
}

std::string refusal(std::span<const unsigned char> bytes, bool wide = true) {
  auto read = read_gmon_out(bytes, wide);
  return read ? "accepted" : read.error().text;
}

TEST(GmonOut, AddsEqualRangesAndKeepsDisjointOnesApart) {
  for (ByteLayout layout : kLayouts) {
    Bytes bytes = header(layout);
    histogram(bytes, 0x2000, 0x2008, {1, 2});
    histogram(bytes, 0x1000, 0x1008, {65535, 0});
    arc(bytes, 0x2000, 0x1001, 5);
    histogram(bytes, 0x1000, 0x1008, {65535, 3});
    arc(bytes, 0x2004, 0x1001, 6);
    auto read = read_gmon_out(bytes.all(), layout.wide);
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_EQ(read->histograms.size(), 2u);
    EXPECT_EQ(read->histograms[0].low, 0x1000u);
    EXPECT_THAT(read->histograms[0].counts, ElementsAre(131070, 3));
    EXPECT_THAT(read->histograms[1].counts, ElementsAre(1, 2));
    ASSERT_EQ(read->calls.size(), 1u);
    EXPECT_EQ(read->calls[0].calls, 11u);
    EXPECT_DOUBLE_EQ(read->seconds_per_tick, 0.01);
  }
}

TEST(GmonOut, CutAnywhereIsRefused) {
  Bytes bytes = header({});
  histogram(bytes, 0x1000, 0x1008, {1, 2});
  arc(bytes, 1, 2, 3);
  size_t arc_bytes = 1 + 8 + 8 + 4;
  for (size_t length = 0; length < bytes.all().size(); ++length) {
    bool between_records = length == 20 || length == bytes.all().size() - arc_bytes;
    EXPECT_EQ(read_gmon_out(bytes.first(length), true).has_value(), between_records) << length;
  }
}

TEST(GmonOut, HugeCountsAreRefusedWithoutMemory) {
  for (int32_t counters : {INT32_MAX, INT32_MIN, -1, 3}) {
    Bytes bytes = header({});
    bytes.number(uint8_t{0}).word(0).word(UINT64_MAX).number(counters).number(int32_t{100});
    bytes.text("seconds", 15).text("s", 1).counters({1, 2});
    EXPECT_THAT(refusal(bytes.all()), HasSubstr("damaged")) << counters;
  }
}

TEST(GmonOut, OfTheOtherWidthIsRefused) {
  Bytes bytes = header({.wide = true});
  histogram(bytes, 0x1000, 0x1008, {1, 2});
  EXPECT_NE(refusal(bytes.all(), false), "accepted");
}

TEST(GmonOut, WhatGprofRefusesIsRefused) {
  struct {
    uint64_t low, high;
  } parts[] = {{0x1000, 0x100c}, {0xffc, 0x1004}, {0x1004, 0x1006}, {0x1000, 0x1004}, {0xff0, 0x1020}};
  for (const auto& part : parts) {
    Bytes bytes = header({});
    histogram(bytes, 0x1000, 0x1008, {1, 2});
    histogram(bytes, part.low, part.high, {1, 2});
    EXPECT_THAT(refusal(bytes.all()), HasSubstr("overlap")) << part.low << ' ' << part.high;
  }
  Bytes counters = header({});
  histogram(counters, 0x1000, 0x1008, {1, 2});
  histogram(counters, 0x1000, 0x1008, {1, 2, 3, 4});
  EXPECT_THAT(refusal(counters.all()), HasSubstr("overlap"));
  Bytes rates = header({});
  histogram(rates, 0x1000, 0x1008, {1, 2});
  histogram(rates, 0x2000, 0x2008, {1, 2}, 1000);
  EXPECT_THAT(refusal(rates.all()), HasSubstr("mixes rates"));
  Bytes still = header({});
  histogram(still, 0x1000, 0x1008, {1, 2}, 0);
  EXPECT_THAT(refusal(still.all()), HasSubstr("no ticks"));
  Bytes empty = header({});
  histogram(empty, 0x1008, 0x1008, {1});
  EXPECT_THAT(refusal(empty.all()), HasSubstr("no text"));
  Bytes misses = header({});
  misses.number(uint8_t{0})
      .word(0)
      .word(4)
      .number(int32_t{1})
      .number(int32_t{100})
      .text("misses", 15)
      .text("m", 1);
  EXPECT_THAT(refusal(misses.all()), HasSubstr("seconds"));
  EXPECT_THAT(refusal(header({}).number(uint8_t{3}).all()), HasSubstr("kind"));
  EXPECT_THAT(refusal(header({}, 2).all()), HasSubstr("version"));
}

}  // namespace
}  // namespace pctally
