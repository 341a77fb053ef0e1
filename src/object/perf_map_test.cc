#include "object/perf_map.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <time.h>

#include <random>

#include "object/fixtures_for_test.h"

namespace pctally {
namespace {

std::vector<std::string> names(const PerfMap& map, const std::vector<uint64_t>& addresses) {
  std::vector<std::string> list;
  for (const NamedRange& range : map.name(addresses)) list.push_back(range.function);
  return list;
}

TEST(PerfMap, NamesItsTextAndNothingElse) {
  const PerfMap map = PerfMap::parse("1000 100 py::first:/a b.py\n0x2000 0x80 second\n");
  EXPECT_THAT(names(map, {0xfff, 0x1000, 0x10ff, 0x1100, 0x2000, 0x2080}),
              testing::ElementsAre("[jit]", "py::first:/a b.py", "py::first:/a b.py", "[jit+0x1100]",
                                   "second", "[jit+0x2080]"));
}

TEST(PerfMap, RangesAreWholeEntries) {
  const std::vector<uint64_t> addresses{0x1050, 0x1800};
  const auto ranges = PerfMap::parse("1000 100 a\n2000 80 b").name(addresses);
  EXPECT_EQ(ranges[0].start, 0x1000u);
  EXPECT_EQ(ranges[0].end, 0x1100u);
  EXPECT_EQ(ranges[1].start, 0x1100u);
  EXPECT_EQ(ranges[1].end, 0x2000u);
}

TEST(PerfMap, TextThatWasReusedHasItsLastName) {
  const PerfMap map = PerfMap::parse("1000 100 old\n1040 20 new\n");
  EXPECT_THAT(names(map, {0x1000, 0x1040, 0x105f, 0x1060}), testing::ElementsAre("old", "new", "new", "old"));
}

TEST(PerfMap, MalformedLinesAreSkipped) {
  const PerfMap map = PerfMap::parse(
      "\n \nzzz 10 a\n1000\n1000 \n1000 10\n1000 10 \n1000 -5 b\n1000 0 empty\nffffffffffffffff 10 wraps\n"
      "11111111111111111111 10 too_long\n1000 11111111111111111111 c\n1000 10 good");
  EXPECT_THAT(names(map, {0x0, 0x1000, UINT64_MAX}), testing::ElementsAre("[jit]", "good", "[jit+0x1010]"));
}

TEST(PerfMap, RandomBytesAreOnlyNoise) {
  std::mt19937 random(11);
  const std::string alphabet("0123456789abcdefx \n\t\0z\xff", 23);
  const std::vector<uint64_t> addresses{0, 1, 0x10, 0x1000, UINT64_MAX};
  for (int round = 0; round < 3000; round++) {
    std::string text(random() % 300, ' ');
    for (char& c : text) c = alphabet[random() % alphabet.size()];
    EXPECT_EQ(PerfMap::parse(text).name(addresses).size(), addresses.size());
  }
}

class PerfMapFile : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "perf-42.map";
  [[nodiscard]] Result<PerfMap> open() const { return PerfMap::open(42, directory_ / ""); }
};

TEST_F(PerfMapFile, IsRead) {
  write_file(path_, "1000 10 here\n");
  const auto map = open();
  ASSERT_TRUE(map) << map.error().text;
  EXPECT_THAT(names(*map, {0x1000}), testing::ElementsAre("here"));
}

TEST_F(PerfMapFile, MissingIsAnError) { EXPECT_FALSE(open()); }

/// It is of an earlier process with this number.
TEST_F(PerfMapFile, OlderThanTheProcessIsRefused) {
  constexpr uint64_t kHourNs = 3'600'000'000'000;
  write_file(path_, "1000 10 here\n");
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t now_ns = static_cast<uint64_t>(now.tv_sec) * 1'000'000'000;
  EXPECT_TRUE(PerfMap::read(path_, now_ns - kHourNs));
  EXPECT_EQ(PerfMap::read(path_, now_ns + kHourNs).error().code, ESTALE);
}

TEST_F(PerfMapFile, FifoDoesNotBlock) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_FALSE(open());
}

TEST_F(PerfMapFile, LinkIsRefused) {
  ASSERT_EQ(symlink("/dev/zero", path_.c_str()), 0);
  EXPECT_FALSE(open());
}

TEST_F(PerfMapFile, DirectoryIsRefused) {
  ASSERT_EQ(mkdir(path_.c_str(), 0700), 0);
  EXPECT_FALSE(open());
}

TEST_F(PerfMapFile, LargerThanTheCapIsRefused) {
  write_file(path_, "");
  ASSERT_EQ(truncate(path_.c_str(), off_t{1} << 40), 0);  // sparse
  const auto map = open();
  ASSERT_FALSE(map);
  EXPECT_EQ(map.error().code, EFBIG);
}

TEST_F(PerfMapFile, OtherPeoplesIsRefused) {
  write_file(path_, "1000 10 here\n");
  if (chown(path_.c_str(), 12345, 12345) != 0) GTEST_SKIP() << "giving files away needs root";
  EXPECT_FALSE(open());
}

}  // namespace
}  // namespace pctally
