// monitor, monstartup and moncontrol of Tru64 UNIX: sizes in bytes, results, and both ways to name ranges.
#include <gtest/gtest.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>

#include "tests/monitor/monitor_calls.h"

namespace pctally::manual {
namespace {

constexpr long kLow = static_cast<long>(kText);

// "buffer, bufsize  16-bit counters, in bytes"
TEST_F(MonitorCalls, tru64_monitor_writes_no_byte_behind_its_buffer) {
  Fenced buffer(128);
  auto* counters = buffer.as<unsigned short>();
  ASSERT_EQ(pctally_tru64_monitor(kLow, kLow + 128, counters, 128, 0), 0);
  tick_at(kText, 1);
  tick_at(kText + 4, 2);
  tick_at(kText + 127, 3);
  EXPECT_EQ(counters[0], 1);
  EXPECT_EQ(counters[2], 2);
  EXPECT_EQ(counters[63], 3);
  EXPECT_EQ(pctally_tru64_monitor(0, 0, nullptr, 0, 0), 0);
  EXPECT_EQ(bytes_of("mon.out").size(), 3 * sizeof(size_t) + 128);
  EXPECT_EQ(pctally_tru64_monitor(kLow, kLow + 128, counters, 130, 0), -1);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(MonitorCalls, tru64_monitor_args_has_its_size_in_bytes) {
  unsigned counters[64];
  std::fill_n(counters, 64, 0x55555555);
  char* low = reinterpret_cast<char*>(kText);
  pctally_tru64_monitor_args range = {low, low + 1024, counters, 32 * sizeof *counters + 3};
  ASSERT_EQ(pctally_tru64_monitor(kLow, 0, &range, 1, 0), 1);
  tick_at(kText + 1023, 5);
  EXPECT_EQ(counters[31], 5u);  // 32 bytes of text each
  EXPECT_EQ(std::count(counters + 32, counters + 64, 0x55555555u), 32);
}

TEST_F(MonitorCalls, tru64_monitor_of_ranges_has_0_as_second_argument_or_minus_1_as_first) {
  static unsigned counters[32];
  char* low = reinterpret_cast<char*>(kText);
  pctally_tru64_monitor_args ranges[2] = {{low + 64, low + 128, counters + 16, 64},
                                          {low, low + 64, counters, 64}};
  for (long first : {1L, -1L}) {
    ASSERT_EQ(pctally_tru64_monitor(first, 0, ranges, 2, 0), 2) << first;
    tick_at(kText + 64, 4);
    EXPECT_EQ(counters[16], 4u) << first;
    EXPECT_EQ(pctally_tru64_monitor(0, 0, nullptr, 0, 0), 0);
    EXPECT_TRUE(exists("gmon.out"));
  }
  ASSERT_EQ(pctally_tru64_monitor(-1, kLow, ranges, 2, 7), 2);  // only the first counts then
  ASSERT_EQ(pctally_tru64_monitor(-1, 0, ranges, 0x5a5a5a5a00000002, 0), 2) << "a caller may pass an int";
}

TEST_F(MonitorCalls, wrong_arguments_of_tru64) {
  static unsigned counters[64];
  char* low = reinterpret_cast<char*>(kText);
  pctally_tru64_monitor_args ranges[2] = {{low, low + 64, counters, 64},
                                          {low + 64, low + 128, counters + 16, 64}};
  auto call = [&](long count, int result) {
    return error_of([&] { EXPECT_EQ(pctally_tru64_monitor(-1, 0, ranges, count, 0), result); });
  };
  EXPECT_EQ(call(2, 1), EINVAL);  // increasing
  std::swap(ranges[0], ranges[1]);
  EXPECT_EQ(call(0, -1), EINVAL);
  EXPECT_EQ(call(65, -1), EINVAL);
  EXPECT_EQ(error_of([&] { EXPECT_EQ(pctally_tru64_monitor(-1, 0, nullptr, 1, 0), -1); }), EFAULT);
  ranges[0].bufsiz = 3;
  EXPECT_EQ(call(2, 0), EINVAL);
  ranges[0].bufsiz = 4;  // one counter for 64 bytes
  EXPECT_EQ(call(2, 2), 0);
  tick_at(kText + 127, 4);
  tick_at(kText + 4, 5);
  EXPECT_EQ(counters[16], 4u);
  EXPECT_EQ(counters[1], 5u);
  ranges[1].buffer = nullptr;
  EXPECT_EQ(call(2, 1), EFAULT);
  EXPECT_EQ(error_of([&] { EXPECT_EQ(pctally_tru64_monitor(8, 4, counters, 64, 0), -1); }), EINVAL);
  EXPECT_EQ(error_of([&] { EXPECT_EQ(pctally_tru64_monitor(kLow, kLow + 64, counters, -1, 0), -1); }),
            EINVAL);
  EXPECT_EQ(error_of([&] { EXPECT_EQ(pctally_tru64_monstartup(low + 8, low + 4), -1); }), EINVAL);
}

TEST_F(MonitorCalls, moncontrol_of_tru64_tells_the_state_before) {
  EXPECT_EQ(pctally_tru64_moncontrol(1), 0);
  ASSERT_EQ(pctally_tru64_monstartup(text(0), text(64)), 0);
  EXPECT_EQ(pctally_tru64_moncontrol(1), 1);
  EXPECT_EQ(pctally_tru64_moncontrol(0), 1);
  EXPECT_EQ(pctally_tru64_moncontrol(0), 0);
  EXPECT_EQ(pctally_tru64_moncontrol(7), 0);
  EXPECT_EQ(pctally_tru64_moncontrol(7), 1);
  static unsigned short counters[32];
  ASSERT_EQ(pctally_tru64_monitor(kLow, kLow + 64, counters, sizeof counters, 0), 0);
  EXPECT_EQ(pctally_tru64_moncontrol(0), 1);
  tick_at(kText, 2);
  EXPECT_EQ(pctally_tru64_moncontrol(1), 0);
  tick_at(kText, 3);
  EXPECT_EQ(counters[0], 3);
}

// The call clears the counters, and with them what lies there.
TEST_F(MonitorCalls, an_array_of_tru64_may_lie_in_its_own_counters_at_an_odd_address) {
  Fenced memory(1024);
  unsigned counters[16];
  std::fill_n(counters, 16, 0x55555555);
  char *low = reinterpret_cast<char*>(kText), *array = memory.as<char>() + 513;
  const pctally_tru64_monitor_args ranges[2] = {{low + 64, low + 128, memory.as<unsigned>(), 1024},
                                                {low, low + 64, counters, sizeof counters}};
  memcpy(array, ranges, sizeof ranges);
  ASSERT_EQ(pctally_tru64_monitor(-1, 0, array, 2, 0), 2);
  EXPECT_EQ(std::count(counters, counters + 16, 0u), 16);
  tick_at(kText + 60, 5);
  EXPECT_EQ(counters[15], 5u);
}

// "Returns 1 if it was on before": a call of profil that turns it off counts, too.
TEST_F(MonitorCalls, moncontrol_tells_that_the_program_has_ended_the_profile_itself) {
  ASSERT_EQ(pctally_tru64_monstartup(text(0), text(64)), 0);
  pctally_tru64_profil(nullptr, 0, 0, 0);
  EXPECT_EQ(pctally_tru64_moncontrol(1), 0);
  EXPECT_EQ(pctally_tru64_moncontrol(1), 1);
  ASSERT_EQ(pctally_aix_monstartup(kText, kText + 64), 0);
  pctally_aix_prof end = {};
  ASSERT_EQ(pctally_aix_profil(&end, UINT32_MAX, 0, 0), 0);
  EXPECT_EQ(pctally_aix_moncontrol(1), 0);
  EXPECT_EQ(pctally_aix_moncontrol(1), 1);
}

/// What moncontrol does in a process that has no timer left for it: 0 if that is -1 with EAGAIN.
template <class Start, class Control>
int resumed_without_a_timer(Start start, Control control) {
  const pid_t child = fork();
  if (child == 0) {
    if (start() != 0 || control(0) != 1) _exit(2);
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    errno = 0;
    if (control(1) != -1 || errno != EAGAIN) _exit(3);
    _exit(control(0) == 0 ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// "-1 with errno if it cannot be resumed"
TEST_F(MonitorCalls, moncontrol_fails_if_the_profile_cannot_be_resumed) {
  setenv("PCTALLY_ENGINE", "timer", 1);
  EXPECT_EQ(resumed_without_a_timer([] { return pctally_tru64_monstartup(text(0), text(64)); },
                                    pctally_tru64_moncontrol),
            0);
  EXPECT_EQ(resumed_without_a_timer([] { return pctally_aix_monstartup(kText, kText + 64); },
                                    pctally_aix_moncontrol),
            0);
}

// "With two zeros it profiles all code of the program and its libraries"
TEST_F(MonitorCalls, tru64_monstartup_of_everything) {
  ASSERT_EQ(pctally_tru64_monstartup(nullptr, nullptr), 0);
  EXPECT_EQ(pctally_tru64_monitor(0, 0, nullptr, 0, 0), 0);
  EXPECT_TRUE(exists("gmon.out"));
  EXPECT_TRUE(exists("gmon.out.libpctally.so.0"));
}

}  // namespace
}  // namespace pctally::manual
