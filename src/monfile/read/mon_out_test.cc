#include "monfile/read/mon_out.h"

#include <gmock/gmock.h>

#include "monfile/read/bytes_for_test.h"

namespace pctally {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Bytes sample(ByteLayout layout) {
  Bytes bytes(layout);
  bytes.word(0x1000).word(0x1010).word(2);
  bytes.word(0x1004).word(7).word(0).word(0);
  return bytes.counters({1, 0, 65535, 4});
}

std::string refusal_of_mon_out(std::span<const unsigned char> bytes, ByteLayout layout = {}) {
  auto read = read_mon_out(bytes, layout);
  return read ? "accepted" : read.error().text;
}

TEST(MonOut, HasTextCountersAndCalls) {
  for (ByteLayout layout : kLayouts) {
    auto read = read_mon_out(sample(layout).all(), layout);
    ASSERT_TRUE(read) << read.error().text;
    ASSERT_EQ(read->histograms.size(), 1u);
    const TextHistogram& text = read->histograms[0];
    EXPECT_EQ(text.low, 0x1000u);
    EXPECT_EQ(text.high, 0x1010u);
    EXPECT_THAT(text.counts, ElementsAre(1, 0, 65535, 4));
    EXPECT_EQ(text.start(1), 0x1004u);
    EXPECT_EQ(text.start(4), 0x1010u);
    ASSERT_EQ(read->calls.size(), 1u);
    EXPECT_EQ(read->calls[0].address, 0x1004u);
    EXPECT_EQ(read->calls[0].calls, 7u);
    EXPECT_EQ(read->seconds_per_tick, 0);
  }
}

TEST(MonOut, OfTheOtherByteOrderIsRefused) {
  for (ByteLayout layout : kLayouts) {
    ByteLayout wrong = layout;
    wrong.swapped = !wrong.swapped;
    EXPECT_THAT(refusal_of_mon_out(sample(layout).all(), wrong), HasSubstr("not a mon.out"));
  }
}

TEST(MonOut, CutAnywhereIsRefusedOrHasFewerCounters) {
  Bytes bytes = sample({});
  for (size_t length = 0; length < bytes.all().size(); ++length) {
    auto read = read_mon_out(bytes.first(length), {});
    bool whole_counters = length >= 24 + 32 + 2 && length % 2 == 0;
    EXPECT_EQ(read.has_value(), whole_counters) << length;
  }
}

TEST(MonOut, HugeNumbersAreRefusedWithoutMemory) {
  for (uint64_t functions : {uint64_t{1} << 32, uint64_t{1} << 60, UINT64_MAX, UINT64_MAX / 16 + 2}) {
    Bytes bytes({});
    bytes.word(0x1000).word(0x1010).word(functions).counters({1, 2, 3, 4});
    EXPECT_THAT(refusal_of_mon_out(bytes.all()), HasSubstr("more call counts than bytes")) << functions;
  }
}

TEST(MonOut, SizesThatDoNotFitAreRefused) {
  EXPECT_THAT(refusal_of_mon_out(Bytes({}).word(2).word(1).word(0).counters({1}).all()),
              HasSubstr("ends before"));
  EXPECT_THAT(refusal_of_mon_out(Bytes({}).word(1).word(1).word(0).counters({1}).all()),
              HasSubstr("ends before"));
  EXPECT_THAT(refusal_of_mon_out(Bytes({}).word(0).word(2).word(0).counters({1, 2, 3}).all()),
              HasSubstr("more counters than text"));
  EXPECT_THAT(refusal_of_mon_out(Bytes({}).word(0).word(UINT64_MAX).word(0).counters({1}).all()),
              HasSubstr("too few"));
  EXPECT_THAT(refusal_of_mon_out(Bytes({}).word(0).word(8).word(0).all()), HasSubstr("no counters"));
}

}  // namespace
}  // namespace pctally
