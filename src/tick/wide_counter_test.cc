#include "tick/wide_counter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace pctally {
namespace {

constexpr uint64_t kWord = uint64_t{1} << 32;

TEST(WideCounter, CarriesFromWordToWord) {
  uint64_t counter = kWord - 1;
  add_relaxed(&counter, 1);
  EXPECT_EQ(counter, kWord);
  add_relaxed(&counter, 3 * kWord - 1);
  EXPECT_EQ(load_relaxed(&counter), 4 * kWord - 1);
  add_relaxed(&counter, 1);
  EXPECT_EQ(load_relaxed(&counter), 4 * kWord);
  store_relaxed(&counter, 7 * kWord + 5);
  EXPECT_EQ(counter, 7 * kWord + 5);
}

// Not statistical: exact on every machine, however the threads meet at the carries.
TEST(WideCounter, NoCarryIsLostBetweenThreads) {
  constexpr uint64_t kAdds = 50'000, kAmount = kWord / 8 + 1;
  uint64_t counter = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&counter] {
      for (uint64_t n = 0; n < kAdds; ++n) add_relaxed(&counter, kAmount);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 4 * kAdds * kAmount);
}

}  // namespace
}  // namespace pctally
