#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/sanitizer.h"
#include "report/paths/callers.h"
#include "report/paths/path_profile_for_test.h"

namespace pctally {
namespace {

/// Functions on a path, outermost first, and how likely a sample is there.
struct LikelyPath {
  std::vector<uint64_t> functions;
  double share = 0;
};

/// f2 recurs, f3 has three callers, f4 calls back.
const std::vector<LikelyPath> kPaths = {
    {{1, 2}, 0.08},    {{1, 2, 3}, 0.12},       {{1, 2, 2, 3}, 0.10}, {{1, 2, 2, 2}, 0.05},
    {{1, 4, 3}, 0.20}, {{1, 4, 2, 4, 3}, 0.04}, {{1, 4}, 0.11},       {{5, 3}, 0.15},
    {{5, 6, 7}, 0.06}, {{5, 6}, 0.04},          {{5}, 0.05},
};

/// The share of the paths for which `holds` is true.
template <class Holds>
double true_share(Holds&& holds) {
  double share = 0;
  for (const LikelyPath& path : kPaths)
    if (holds(path.functions)) share += path.share;
  return share;
}

bool has(const std::vector<uint64_t>& functions, uint64_t function) {
  return std::ranges::find(functions, function) != functions.end();
}

bool has_call(const std::vector<uint64_t>& functions, uint64_t caller, uint64_t callee) {
  for (size_t i = 0; i + 1 < functions.size(); ++i)
    if (functions[i] == caller && functions[i + 1] == callee) return true;
  return false;
}

/// A run: so many deliveries at these paths, each of `weight` ticks.
Profile run_of(uint64_t deliveries, uint64_t weight, std::mt19937_64* random) {
  PathProfile paths;
  uint64_t left = deliveries;
  double rest = 1;
  for (const LikelyPath& path : kPaths) {
    const double part = std::min(1.0, path.share / rest);
    const uint64_t here = std::binomial_distribution<uint64_t>(left, part)(*random);
    uint32_t at = 0;
    for (size_t i = 0; i + 1 < path.functions.size(); ++i)
      at = paths.child(at, 0x100 * path.functions[i] + 0x10);
    if (here != 0) paths.add(at, 0x100 * path.functions.back(), here * weight);
    left -= here;
    rest -= path.share;
  }
  paths.profile.ledger.samples = deliveries;
  paths.profile.ledger.weight_squares = static_cast<double>(deliveries * weight * weight);
  return std::move(paths.profile);
}

/// How often an interval held what is true, by the row.
struct Held {
  std::map<std::string, int> runs;
  void add(const std::string& row, double truth, const Interval& interval) {
    runs[row] += interval.low <= truth && truth <= interval.high;
  }
};

constexpr int kRuns = kSanitized ? 500 : 2000;

/// 95 times in 100. Were all intervals exact, a row would be outside these bounds (93 and 97.5 %) once
/// in 20,000 seeds: 1900 +- 9.7 (one sigma). That of a share is off by up to a point by itself, as it is
/// of whole ticks. Of 500 runs the bounds are twice as wide.
void expect_95(const Held& held, size_t rows) {
  EXPECT_EQ(held.runs.size(), rows);
  for (const auto& [row, runs] : held.runs) {
    EXPECT_GE(runs, kRuns * (kSanitized ? 910 : 930) / 1000) << row;
    EXPECT_LE(runs, kRuns * (kSanitized ? 990 : 975) / 1000) << row;
  }
}

TEST(Intervals, OfTotalsHoldTheTruth) {
  std::mt19937_64 random(2006);
  for (const uint64_t weight : {1, 4}) {
    Held held;
    for (int run = 0; run < kRuns; ++run) {
      const Profile profile = run_of(3000, weight, &random);
      for (const Row& row : make_report(profile, &FakeSymbolizer::open, {}).rows) {
        const uint64_t function = std::stoull(row.function.substr(1));
        held.add(row.function, true_share([&](const auto& path) { return has(path, function); }),
                 row.total_interval);
      }
    }
    expect_95(held, 7);
  }
}

TEST(Intervals, OfCallersHoldTheTruth) {
  std::mt19937_64 random(1990);
  for (const uint64_t weight : {1, 4}) {
    Held held;
    for (int run = 0; run < kRuns; ++run) {
      const Profile profile = run_of(3000, weight, &random);
      ObjectNames names(profile, &FakeSymbolizer::open);
      const NamedPaths named(profile, names, NamedPaths::Detail::kLines);
      const Callers callers = callers_of(profile, named, find_functions(named, "f3").at(0));
      held.add("f3", true_share([](const auto& path) { return has(path, 3); }), callers.interval);
      for (const CallerRow& row : callers.callers) {
        const uint64_t caller = std::stoull(row.frame.function.substr(1));
        held.add(row.frame.function, true_share([&](const auto& path) {
                                       return has_call(path, caller, 3);
                                     }) / true_share([](const auto& path) { return has(path, 3); }),
                 row.interval);
      }
    }
    expect_95(held, 4);
  }
}

TEST(Intervals, OfCalleesHoldTheTruthUnderRecursion) {
  std::mt19937_64 random(1964);
  Held held;
  for (int run = 0; run < kRuns; ++run) {
    const Profile profile = run_of(3000, 1, &random);
    ObjectNames names(profile, &FakeSymbolizer::open);
    const NamedPaths named(profile, names, NamedPaths::Detail::kLines);
    const Callers callers = callers_of(profile, named, find_functions(named, "f2").at(0));
    for (const CallerRow& row : callers.callees) {
      if (row.frame.function == "(itself)") continue;
      const uint64_t callee = std::stoull(row.frame.function.substr(1));
      held.add(row.frame.function, true_share([&](const auto& path) {
                                     return has_call(path, 2, callee);
                                   }) / true_share([](const auto& path) { return has(path, 2); }),
               row.interval);
    }
  }
  expect_95(held, 3);
}

}  // namespace
}  // namespace pctally
