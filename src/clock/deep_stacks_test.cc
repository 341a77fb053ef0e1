#include "clock/deep_stacks.h"

#include <gtest/gtest.h>

namespace pctally {
namespace {

constexpr uint64_t kEnd = 0x7fff0000, kBytesPerFrame = 48, kLowest = kEnd - (8 << 20);

/// A thread whose samples are of stacks of any depth, each of one tick.
class DeepStacksTest : public testing::Test {
 protected:
  /// Ticks that it counts; 0 if it is left out.
  uint64_t sample(uint32_t frames) {
    const uint64_t top = kEnd - frames * kBytesPerFrame;
    uint64_t ticks = 1;
    if (deep_.leaves_out(of_, kLowest, top, &ticks)) return 0;
    ++taken_;
    deep_.note(of_, top, kEnd, frames);
    return ticks;
  }

  /// Of a coroutine, whose stack lies below the thread's own: its depth is not known.
  uint64_t sample_elsewhere() {
    uint64_t ticks = 1;
    return deep_.leaves_out(of_, kLowest, kLowest - (1 << 20), &ticks) ? 0 : ticks;
  }

  DeepStacks::Of of_{reinterpret_cast<const OwnPaths*>(0x1000), 1};
  DeepStacks deep_;
  uint64_t taken_ = 0;
};

TEST_F(DeepStacksTest, UpTo128FramesEverySampleIsTaken) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(sample(kFramesAtFullRate), 1u);
}

TEST_F(DeepStacksTest, APathCostsNoMoreThanOneOf128FramesAtEverySample) {
  constexpr int kSamples = 10000;
  for (uint32_t frames : {129u, 256u, 257u, 640u, 1023u}) {
    taken_ = 0;
    for (int i = 0; i < kSamples; ++i) sample(frames);
    EXPECT_LT(static_cast<double>(taken_ * frames), 1.1 * kSamples * kFramesAtFullRate) << frames;
    EXPECT_GT(static_cast<double>(taken_ * frames), 0.4 * kSamples * kFramesAtFullRate) << frames;
  }
}

TEST_F(DeepStacksTest, EveryTickIsCountedOrOwed) {
  uint64_t counted = 0;
  for (uint32_t i = 0; i < 10000; ++i) counted += sample(i * 7919 % 1024);
  EXPECT_EQ(counted + deep_.owed(of_), 10000u);
  EXPECT_LE(deep_.owed(of_), 14u);
}

TEST_F(DeepStacksTest, NoPlaceGainsTicksByWhatRanBefore) {
  for (uint32_t in_a_row : {1u, 2u, 8u, 40u}) {
    uint64_t deep = 0, shallow = 0;
    for (uint32_t i = 0; i < 10000; ++i)
      (i / in_a_row % 2 == 0 ? deep : shallow) += sample(i / in_a_row % 2 == 0 ? 1000 : 20);
    EXPECT_EQ(shallow, 5000u) << in_a_row;
    EXPECT_NEAR(static_cast<double>(deep), 5000, 14) << in_a_row;
  }
}

TEST_F(DeepStacksTest, AnotherStackPaysNothing) {
  for (uint32_t in_a_row : {1u, 13u, 25u, 50u}) {
    deep_ = {};
    uint64_t elsewhere = 0;
    for (uint32_t i = 0; i < 10000 * in_a_row; ++i)
      if (i / in_a_row % 2 == 0)
        sample(1000);
      else
        elsewhere += sample_elsewhere();
    EXPECT_EQ(elsewhere, 5000 * in_a_row) << in_a_row;
  }
}

TEST_F(DeepStacksTest, DeepStacksOfAnyDepthPayOneAnotherAlike) {
  constexpr uint32_t kSamples = 1'000'000;
  for (const uint32_t other : {130u, 300u, 600u, 900u}) {
    for (const uint32_t in_a_row : {13u, 25u, 50u, 1000u, 5000u}) {
      deep_ = {};
      uint64_t of_1000 = 0;
      for (uint32_t i = 0; i < kSamples; ++i) {
        const bool is_1000 = i / in_a_row % 2 == 0;
        const uint64_t ticks = sample(is_1000 ? 1000 : other);
        if (is_1000) of_1000 += ticks;
      }
      EXPECT_NEAR(static_cast<double>(of_1000) / kSamples, 0.5, 0.007) << other << " " << in_a_row;
    }
  }
}

TEST_F(DeepStacksTest, ADepthThatDoesNotRecurIsForgotten) {
  for (int i = 0; i < 1000; ++i) sample(1000);
  for (int i = 0; i < 2000; ++i) sample(140);
  taken_ = 0;
  for (int i = 0; i < 1000; ++i) sample(140);
  EXPECT_GT(taken_, 400u) << "every second one";
}

TEST_F(DeepStacksTest, NoProgramIsInStepWithTheSamplesTaken) {
  // Every eighth sample is of 1,000 frames, the others of 1,001: 1/8 of the ticks, where a fixed
  // distance would meet none of them or these alone. 1,250 samples taken, weights up to 15: 0.06 is more
  // than five standard deviations.
  uint64_t of_1000 = 0;
  for (uint32_t i = 0; i < 10000; ++i) {
    const uint64_t ticks = sample(i % 8 == 0 ? 1000 : 1001);
    if (i % 8 == 0) of_1000 += ticks;
  }
  EXPECT_NEAR(static_cast<double>(of_1000) / 10000, 0.125, 0.06);
}

TEST_F(DeepStacksTest, OtherPathsAndRecordingsKnowNothingOfIt) {
  for (int i = 0; i < 100; ++i) sample(1000);
  uint64_t ticks = 1;
  const DeepStacks::Of later{of_.paths, of_.recording + 1}, other{nullptr, of_.recording};
  for (const DeepStacks::Of& of : {later, other}) {
    EXPECT_FALSE(deep_.leaves_out(of, kLowest, kEnd - 1000 * kBytesPerFrame, &ticks));
    EXPECT_EQ(ticks, 1u);
    EXPECT_EQ(deep_.owed(of), 0u);
  }
}

}  // namespace
}  // namespace pctally
