#include "report/account/unsampled_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/account/warnings_for_test.h"

namespace pctally {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Warnings, UnsampledTimeSaysWhy) {
  Profile profile = trusty();
  profile.engine = "bpf";
  profile.cpu_system_ns = 200'000'000;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "16.7 % of the CPU time was not sampled: short threads or processes, "
                             "frequent sleeps, or a busy host")));
  profile.engine = "ring";
  profile.command = {"a"};
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning,
                                                "short threads, sleeps, exits or a busy host; try -F "
                                                "10000 or -e timer")));
  profile.command = {"@running", "7:a"};
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "or a busy host; try -F 10000")))
      << "timer observes only what record starts";
  profile.machine_cpus = 2;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "sleeps, or a busy host")));
  profile.machine_cpus = 0;
  profile.engine = "timer";
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "what is short, static or blocks signals; as root, -e bpf samples more")));
  profile.clock_tick_ns = 4'000'000;
  profile.ledger.samples = 250;
  const std::string busy =
      "what threads ran after their last sample (busy machine); as root, -e bpf samples more";
  EXPECT_THAT(warnings(profile),
              testing::Contains(is(Severity::kWarning, "signals; as root, -e bpf samples more")))
      << "one in 4 ms";
  profile.ledger.samples = 150;
  EXPECT_THAT(warnings(profile), testing::Contains(is(Severity::kWarning, busy.c_str()))) << "one in 6.7 ms";
  profile.ledger.samples = 1000;
  profile.clock_tick_ns = 0;
  profile.kernel_observed = false;
  profile.engine = "trap";
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning,
                                                "16.7 % of the CPU time was not sampled; kernel code took as "
                                                "much (as root, -e bpf samples it)")));
  Profile short_ones = profile;
  short_ones.executables = {{ExecutableKind::kStart, "[process start]", {}, 0}};
  short_ones.positions = {{0, 0, 500}};
  EXPECT_THAT(warnings(short_ones),
              testing::Contains(
                  is(Severity::kWarning, "% of the CPU time was not sampled: kernel code, and what short")));
  profile.engine = "ring";
  EXPECT_THAT(
      warnings(profile),
      ElementsAre(is(Severity::kWarning, "kernel code took as much (needs root or perf_event_paranoid 1)")));
  profile.cpu_user_ns += 500'000'000;
  EXPECT_THAT(
      warnings(profile),
      ElementsAre(is(Severity::kWarning, "not sampled: 0.20 s of kernel code, short threads, sleeps")));
}

TEST(Warnings, WhatNoProcessWasSampledForIsOfTheReasonGivenAbove) {
  Profile profile = trusty();
  profile.engine = "timer";
  profile.clock_tick_ns = 4'000'000;
  profile.ledger = {.counted = 1};
  profile.processes[0].note = "took the signal";
  const auto unsampled = [&](const char* reason) {
    return testing::Contains(
        is(Severity::kWarning, (std::string("99.9 % of the CPU time was not sampled: ") + reason).c_str()));
  };
  EXPECT_THAT(warnings(profile), unsampled("the reason given above"));
  profile.processes.push_back(profile.processes[0]);
  profile.processes[1].note = "";
  EXPECT_THAT(warnings(profile), unsampled("the reason given above, what"));
}

// By perf events of their own: the kernel starts the period anew in each.
TEST(Warnings, ProcessesTooShortForATickAreNamed) {
  Profile profile = trusty();
  profile.engine = "ring";
  profile.command = {"sh"};
  profile.cpu_user_ns += 300'000'000;
  profile.cpu_system_ns = 100'000'000;
  profile.kernel_observed = false;
  const ProfileProcess observed = profile.processes[0];
  const auto add = [&](const char* comm, int number) {
    for (int i = 0; i < number; ++i) {
      profile.processes.push_back(observed);
      profile.processes.back().comm = comm;
      profile.processes.back().ticks = 0;
    }
  };
  add("true", 150);
  add("seq", 40);
  const char* general =
      "0.10 s of kernel code, short threads, sleeps, exits or a busy host; try -F 10000 or -e timer";
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, general)))
      << "190 cannot have used half of 0.4 s";
  add("seq", 20);
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "was not sampled: 210 processes without a tick (150 of true); try -F "
                             "10000 or -e timer")));
  profile.processes.push_back(observed);
  profile.processes.back().pid = 0;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning, "more than 210 processes without a tick")))
      << "of those in one row nobody knows how many had none";
  profile.machine_cpus = 2;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning, "0.10 s of kernel code, short threads or processes")))
      << "events of whole CPUs";
  profile.machine_cpus = 0;
  profile.ledger = {};
  add("true", 800);
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning, "of CPU time: the next warning says why"),
                          is(Severity::kWarning, "more than 1010 processes without a tick (950 of true)")));
}

// Each thread and process may have a tick too many or too few in a function.
TEST(Warnings, TicksAtTheSameMomentsAfterEachStart) {
  Profile profile = trusty();
  profile.command = {"a"};
  profile.starts_in_step = 50;
  EXPECT_THAT(warnings(profile), IsEmpty()) << "5 % of 1,000 ticks";
  profile.starts_in_step = 200;
  EXPECT_THAT(warnings(profile),
              ElementsAre(is(Severity::kWarning,
                             "ticks are in step with 200 starts of threads: shares may be off by "
                             "20 % beyond ±; try -F 10000 or -e timer")));
  profile.period_ns = 100'000;
  profile.cpu_user_ns = 100'000'000;
  EXPECT_THAT(warnings(profile), ElementsAre(is(Severity::kWarning, "beyond ±; try -e timer")));
  profile.starts_in_step = 9;
  profile.ledger = {.counted = 100, .samples = 100, .weight_squares = 100};
  profile.cpu_user_ns = 10'000'000;
  EXPECT_THAT(warnings(profile), IsEmpty()) << "few starts differ by chance";
  profile.starts_in_step = 200;
  EXPECT_EQ(in_step_share(profile), 1) << "not more than all";
}

}  // namespace
}  // namespace pctally
