// gmon.out as the writer leaves it and the reader takes it: over regions of every rule, width
// and neighbourhood no tick is lost, none moves out of the text its counter stands for, and
// gprof's conditions hold.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "dialect/monitor/classic_monitor.h"
#include "dialect/policy.h"
#include "monfile/read/gmon_out.h"
#include "monfile/read/mon_out.h"
#include "monfile/write/gmon_out.h"
#include "monfile/write/mon_out.h"

namespace pctally {
namespace {

using Random = std::mt19937;

uint64_t up_to(Random& random, uint64_t most) {
  return std::uniform_int_distribution<uint64_t>(0, most)(random);
}

struct Sample {
  Region region;
  std::vector<uint64_t> memory;  ///< aligned for every cell
  uint64_t ticks = 0;
};

void set_cell(Sample* sample, uint64_t index, uint64_t value) {
  void* cells = sample->memory.data();
  if (sample->region.kind == CellKind::kU16)
    static_cast<uint16_t*>(cells)[index] = static_cast<uint16_t>(value);
  if (sample->region.kind == CellKind::kU32)
    static_cast<uint32_t*>(cells)[index] = static_cast<uint32_t>(value);
  if (sample->region.kind == CellKind::kU64) static_cast<uint64_t*>(cells)[index] = value;
}

Sample sample(Random& random, const DialectPolicy& policy, CellKind kind, uint64_t low, uint32_t scale) {
  uint64_t text = 1 + up_to(random, 3000), counters = 1 + up_to(random, 600);
  Sample result{};
  result.memory.resize(counters);
  CellBuffer buffer{result.memory.data(), counters << cell_shift(kind), kind};
  result.region = region_of(policy, buffer, low, scale);
  result.region.last = std::min(result.region.last, low + text - 1);
  uint64_t most = kind == CellKind::kU16 ? 65535 : 200000, last = 0;
  if (pctally_bin_index(&result.region.rule, result.region.last, &last) == 0) return result;
  for (uint64_t i = 0; i <= last; ++i) {
    if (up_to(random, 3) != 0) continue;
    uint64_t value = up_to(random, up_to(random, 5) == 0 ? most : 9);
    set_cell(&result, i, value);
    result.ticks += value;
  }
  return result;
}

/// What `write` puts into a file.
template <class Write>
std::vector<unsigned char> written(Write write) {
  MonPath path;
  snprintf(path.text, sizeof path.text, "%sgmon.XXXXXX", testing::TempDir().c_str());
  close(mkstemp(path.text));
  auto file = MonFile::create(path);
  EXPECT_TRUE(file);
  write(&*file);
  EXPECT_TRUE(file->close());
  std::ifstream stream(path.text, std::ios::binary);
  std::vector<unsigned char> bytes{std::istreambuf_iterator<char>(stream), {}};
  unlink(path.text);
  return bytes;
}

std::vector<unsigned char> written(const std::vector<Region>& regions, uint64_t base) {
  return written([&](MonFile* file) { EXPECT_EQ(write_gmon_out(file, regions, base, 100), 0u); });
}

std::vector<unsigned char> written_mon_out(const MonHistogram& histogram) {
  return written([&](MonFile* file) { write_mon_out(file, histogram, 0); });
}

uint64_t sum(const TextHistogram& histogram) {
  uint64_t ticks = 0;
  for (uint64_t count : histogram.counts) ticks += count;
  return ticks;
}

/// gprof: one width in all records, to a millionth.
void expect_one_width(const TextProfile& profile) {
  auto width = [](const TextHistogram& one) { return (one.high - one.low) / one.counts.size(); };
  for (const TextHistogram& one : profile.histograms) {
    EXPECT_EQ((one.high - one.low) % one.counts.size(), 0u);
    EXPECT_EQ(width(one), width(profile.histograms[0]));
    EXPECT_EQ(width(one) % 2, 0u);
  }
}

/// The ticks that the file has in the text of a region; a counter at its edge may reach beyond by its width.
uint64_t ticks_in(const TextProfile& profile, uint64_t low, uint64_t last) {
  uint64_t ticks = 0;
  for (const TextHistogram& one : profile.histograms)
    if (one.low >= low / 2 * 2 && one.low <= last) ticks += sum(one);
  return ticks;
}

TEST(GmonRoundTrip, NoTickIsLostAtAnyScale) {
  const DialectPolicy* policies[] = {&kHpuxSprofil, &kGlibcSprofil, &kAixProfil, &kSvr4Profil};
  const uint32_t scales[] = {0x10000, 0x8000,  0x4000,  0xffff, 0x7fff, 0xc000,
                             0x1234,  0x20000, 0x18000, 3,      2,      0x200};
  const CellKind kinds[] = {CellKind::kU16, CellKind::kU32, CellKind::kU64};
  Random random(20261121);
  for (int turn = 0; turn < 600; ++turn) {
    const DialectPolicy& policy = *policies[up_to(random, 3)];
    uint64_t low = 0x400000 + up_to(random, 100), base = up_to(random, 1) * 0x3ff000, ticks = 0;
    std::vector<Sample> samples;
    bool same_rule = up_to(random, 1) == 0;
    uint32_t scale = scales[up_to(random, std::size(scales) - 1)];
    CellKind kind = kinds[up_to(random, 2)];
    for (uint64_t count = 1 + up_to(random, 3); count > 0; --count) {
      if (!same_rule) scale = scales[up_to(random, std::size(scales) - 1)], kind = kinds[up_to(random, 2)];
      if (meaning_of(policy, scale) == ScaleMeaning::kOff) continue;
      samples.push_back(sample(random, policy, kind, low, scale));
      ticks += samples.back().ticks;
      low = samples.back().region.last + 1 + (up_to(random, 1) == 0 ? 0 : up_to(random, 50));
    }
    std::vector<Region> regions;
    for (Sample& one : samples) regions.push_back(one.region);
    if (regions.empty()) continue;
    auto read = read_gmon_out(written(regions, base), sizeof(void*) == 8);
    ASSERT_TRUE(read) << read.error().text << " turn " << turn;
    uint64_t found = 0;
    for (const TextHistogram& one : read->histograms) found += sum(one);
    ASSERT_EQ(found, ticks) << turn;
    expect_one_width(*read);
    if (samples.size() == 1) {
      EXPECT_EQ(ticks_in(*read, regions[0].low - base, regions[0].last - base), ticks) << turn;
    }
  }
}

/// The first pc of the region that counts in cell `index` or behind it, by looking at every pc.
uint64_t first_pc_of(const Region& region, uint64_t index) {
  uint64_t pc = region.low, at = 0;
  while (pc <= region.last && (!pctally_bin_index(&region.rule, pc, &at) || at < index)) ++pc;
  return pc;
}

/// Every tick in the file lies in the cell's own text, but for the odd byte that gprof's unit of two shares.
void expect_within(const TextProfile& profile, uint64_t first, uint64_t end, const std::string& where) {
  for (const TextHistogram& one : profile.histograms)
    for (size_t i = 0; i < one.counts.size(); ++i) {
      if (one.counts[i] == 0) continue;
      EXPECT_GE(one.start(i) + 1, first) << where;
      EXPECT_LE(one.start(i + 1), end + 1) << where;
    }
}

// A width that is not the same for all cells drifts: after some kilobytes ticks lay in the neighbours' text.
TEST(GmonRoundTrip, ACellsTicksStayInItsTextAtEveryScale) {
  constexpr uint64_t kText = 60000;
  std::vector<uint64_t> memory(kText / 4);
  Random random(7);
  for (uint32_t scale : {0x10000u, 0x8000u, 0xffffu, 0xfffeu, 0x7fffu, 0x1234u, 0x800u, 0x18000u, 0x5555u})
    for (const DialectPolicy* policy : {&kHpuxSprofil, &kAixProfil, &kGlibcSprofil})
      for (uint64_t low : {0x1000, 0x1001}) {
        if (meaning_of(*policy, scale) == ScaleMeaning::kOff) continue;
        Region region = region_of(*policy, {memory.data(), kText, CellKind::kU16}, low, scale);
        const Region whole = region;  // the last counter stands for all of its text
        region.last = std::min<uint64_t>(region.last, low + kText);
        for (int turn = 0; turn < 12; ++turn) {
          uint64_t pc = region.last - up_to(random, turn == 0 ? 0 : region.last - region.low), index = 0;
          ASSERT_TRUE(pctally_bin_index(&region.rule, pc, &index));
          auto* cells = reinterpret_cast<uint16_t*>(memory.data());
          cells[index] = 1000;
          auto read = read_gmon_out(written({region}, 0), sizeof(void*) == 8);
          cells[index] = 0;
          ASSERT_TRUE(read);
          expect_within(*read, first_pc_of(whole, index), first_pc_of(whole, index + 1),
                        "scale " + std::to_string(scale) + " low " + std::to_string(low) + " cell " +
                            std::to_string(index));
        }
      }
}

TEST(GmonRoundTrip, OneCoarseRegionDoesNotBlurTheOthers) {
  std::vector<uint64_t> coarse(4), fine(64);
  Region first = region_of(kHpuxSprofil, {coarse.data(), 4, CellKind::kU16}, 0x1000, 0x200);
  Region second = region_of(kHpuxSprofil, {fine.data(), 128, CellKind::kU16}, 0x2000, 0x10000);
  reinterpret_cast<uint16_t*>(fine.data())[7] = 3;
  auto read = read_gmon_out(written({first, second}, 0), sizeof(void*) == 8);
  ASSERT_TRUE(read) << read.error().text;
  const TextHistogram& last = read->histograms.back();
  EXPECT_EQ(last.low, 0x2000u + 14);
  EXPECT_EQ(last.high, 0x2000u + 16);
  EXPECT_EQ(sum(last), 3u);
}

// docs/dialects.md: "a cell's ticks are spread evenly over its text".
TEST(GmonRoundTrip, ACellsTicksAreSpreadEvenly) {
  uint16_t coarse[1] = {}, fine[1] = {};
  Region first = region_of(kHpuxSprofil, {coarse, 2, CellKind::kU16}, 0x1000, 0x200);  // 256 bytes
  Region second = region_of(kHpuxSprofil, {fine, 2, CellKind::kU16}, 0x2000, 0x10000);
  for (uint16_t count : {1, 4, 20, 127, 128, 129, 260, 1001}) {
    coarse[0] = count;
    auto read = read_gmon_out(written({first, second}, 0), sizeof(void*) == 8);
    ASSERT_TRUE(read) << read.error().text;
    std::vector<uint64_t> at(128);
    for (const TextHistogram& one : read->histograms)
      for (size_t i = 0; i < one.counts.size(); ++i)
        if (one.counts[i] != 0) at.at((one.start(i) - 0x1000) / 2) += one.counts[i];
    double before = 0;
    for (size_t i = 0; i < at.size(); ++i) {
      before += static_cast<double>(at[i]);
      EXPECT_LE(std::abs(before - count * (static_cast<double>(i) + 1) / 128), 0.5) << count << " at " << i;
    }
  }
}

TEST(GmonRoundTrip, AVeryLargeCellTakesNoTime) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "there is no text of 3 TiB";
  uint16_t cell[1] = {3};
  Region region = region_of(kAixProfil, {cell, 2, CellKind::kU16}, 0x1000, 2);
  region.last = 0x1000 + 3 * (uint64_t{1} << 40) - 1;
  auto read = read_gmon_out(written({region}, 0), sizeof(void*) == 8);
  ASSERT_TRUE(read) << read.error().text;
  ASSERT_EQ(read->histograms.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) {
    const uint64_t middle = 0x1000 + (2 * i + 1) * (uint64_t{1} << 39);
    EXPECT_LE(read->histograms[i].low, middle);
    EXPECT_GE(read->histograms[i].high + 2, middle);
  }
}

// The scale is a whole number: with 600 counters for 4 MiB the last tick was read 175 KB too early.
TEST(MonRoundTrip, ATickIsReadInTheTextItsCounterStandsFor) {
  Random random(11);
  for (auto [text, counters] : {std::pair{4194304u, 600u},
                                {4194304u, 96u},
                                {10485760u, 1000u},
                                {6001u, 2000u},
                                {6001u, 3001u},
                                {6000u, 3000u},
                                {100u, 3u}}) {
    std::vector<uint16_t> cells(counters);
    const uint64_t low = 0x401000, high = low + text;
    const uint32_t scale = monitor_scale(kSvr4Profil, counters, text, 0x10000);
    ASSERT_GT(scale, 2u);
    Region region = monitor_region(kSvr4Profil, {cells.data(), counters * sizeof cells[0]}, low, high, scale);
    const auto read = read_mon_out(written_mon_out({.low = low, .high = high, .counters = cells}), {});
    ASSERT_TRUE(read) << read.error().text;
    const TextHistogram& histogram = read->histograms[0];
    for (int turn = 0; turn < 200; ++turn) {
      uint64_t pc = turn == 0 ? high - 1 : low + up_to(random, text - 1), index = 0;
      ASSERT_TRUE(pctally_bin_index(&region.rule, pc, &index));
      EXPECT_LE(histogram.start(index), pc) << text << " by " << counters;
      EXPECT_GT(histogram.start(index + 1), pc) << text << " by " << counters;
    }
  }
}

TEST(GmonRoundTrip, TheFileIsSmallWhereTheTextIsCold) {
  std::vector<uint64_t> memory(1 << 20);
  Region region =
      region_of(kHpuxSprofil, {memory.data(), memory.size() * 8, CellKind::kU64}, 0x1000, 0x10000);
  memory[5] = 1;
  memory[900000] = 2000000000;
  EXPECT_LT(written({region}, 0).size(), 2000000000 / 65535 * 43 + 400u);
}

}  // namespace
}  // namespace pctally
