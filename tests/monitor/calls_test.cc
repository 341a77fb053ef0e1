// The calls of the monitors: arguments that are wrong, buffers that go away, several at once, and fork.
#include <gtest/gtest.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/monitor/monitor_calls.h"

namespace pctally::manual {
namespace {

TEST_F(MonitorCalls, wrong_arguments_of_svr4) {
  Fenced buffer(200);
  auto* words = buffer.as<unsigned short>();
  auto call = [&](uintptr_t low, uintptr_t high, unsigned short* where, size_t bufsize, size_t nfunc) {
    return error_of([&] { pctally_svr4_monitor(place(low), place(high), where, bufsize, nfunc); });
  };
  EXPECT_EQ(call(0, 0, words, 100, 0), EINVAL);
  EXPECT_EQ(call(8, 4, words, 100, 0), EINVAL);
  EXPECT_EQ(call(0, 64, words, 12, 0), EINVAL);  // the header fills it
  EXPECT_EQ(call(0, 64, words, 100, 11), EINVAL);
  EXPECT_EQ(call(0, 64, words, 100, SIZE_MAX / 16 + 1), EINVAL);
  EXPECT_EQ(call(0, 64, words, SIZE_MAX, 0), EINVAL);
  EXPECT_EQ(call(0, 64, words, 101, 0), EFAULT);
  EXPECT_EQ(call(0, 64, nullptr, 100, 0), EFAULT);
  EXPECT_EQ(call(0, uintptr_t{1} << 40, words, 100, 0), EINVAL);  // less than a counter per 65536 bytes
  EXPECT_FALSE(exists("mon.out"));
  EXPECT_EQ(call(0, 64, words, 100, 10), 0);
  EXPECT_EQ(call(0, 64, words, 13, 0), 0);
}

// Scale 2 is "one counter for every pc" to profil: no text is divided by it, but on BSD.
TEST_F(MonitorCalls, so_few_counters_that_the_scale_is_2) {
  static unsigned short buffer[300];
  constexpr uintptr_t kHigh = kText + (10 << 20);
  auto hpux = reinterpret_cast<void (*)()>(kText), hpux_high = reinterpret_cast<void (*)()>(kHigh);
  constexpr int kHead = 3 * sizeof(size_t) / sizeof *buffer;
  for (int counters : {161, 239, 240}) {  // 65129, 43873 and 43690 bytes of text each
    const int expected = counters < 240 ? EINVAL : 0, words = kHead + counters;
    const auto size = static_cast<size_t>(words);
    EXPECT_EQ(error_of([&] { pctally_svr4_monitor(place(0), place(10 << 20), buffer, size, 0); }), expected);
    EXPECT_EQ(error_of([&] { pctally_hpux_monitor(hpux, hpux_high, buffer, words, 0); }), expected);
    EXPECT_EQ(error_of([&] { pctally_tru64_monitor(kText, kHigh, buffer, 2 * counters, 0); }), expected);
    EXPECT_EQ(error_of([&] { (void)pctally_aix_monitor(kText, kHigh, buffer, counters, 0); }), expected);
    char* low = reinterpret_cast<char*>(kText);
    pctally_aix_prof ranges[2] = {{low, low + (10 << 20), buffer, counters, UINT32_MAX}};
    EXPECT_EQ(error_of([&] { (void)pctally_aix_monitor(1, 0, ranges, -1, 0); }), expected);
  }
  (void)pctally_aix_monitor(0, 0, nullptr, 0, 0);
  pctally_hpux_monitor(nullptr, nullptr, nullptr, 0, 0);
  pctally_tru64_monitor(0, 0, nullptr, 0, 0);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  auto* words = reinterpret_cast<short*>(buffer);
  EXPECT_EQ(error_of([&] { pctally_bsd_monitor(place(0), place(10 << 20), words, 2 * (kHead + 161), 0); }),
            0);
  tick_at(kText + 65536, 3);
  EXPECT_EQ(words[kHead + 1], 3);
  pctally_bsd_monitor(nullptr, nullptr, nullptr, 0, 0);
}

TEST_F(MonitorCalls, a_wrong_call_changes_nothing) {
  Fenced buffer(200);
  auto* words = buffer.as<unsigned short>();
  pctally_svr4_monitor(place(0), place(64), words, 100, 0);
  tick_at(kText + 4);
  pctally_svr4_monitor(place(8), place(4), words, 100, 0);
  tick_at(kText + 4);
  EXPECT_EQ(words[12 + 2], 2);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  tick_at(kText + 4);
  EXPECT_EQ(words[12 + 2], 2);
  EXPECT_EQ(bytes_of("mon.out").size(), 24u + 64);
  EXPECT_EQ(stderr_text(), "");
}

TEST_F(MonitorCalls, the_callers_buffer_is_cleared) {
  static unsigned short words[100];
  static unsigned counts[64];
  std::fill_n(words, 100, 0xffff);
  std::fill_n(counts, 64, 0xffffffff);
  pctally_hpux_text_region region{kText, kText + 64, nullptr};
  pctally_svr4_monitor(place(0), place(64), words, 100, 1);
  pctally_hpux_smonitor(&region, 1, counts, sizeof counts, 0, PCTALLY_HPUX_UINT);
  size_t header = 3 * sizeof(size_t) / sizeof *words;
  EXPECT_EQ(std::count(words + header, words + 100, 0), static_cast<long>(100 - header));
  EXPECT_EQ(std::count(counts, counts + 64, 0u), 64);
}

TEST_F(MonitorCalls, svr4_stops_at_32767_as_its_profil_does) {
  static unsigned short buffer[100];
  pctally_svr4_monitor(place(0), place(64), buffer, 100, 0);
  tick_at(kText, 32766);
  tick_at(kText + 8, 1);
  tick_at(kText, 1);
  tick_at(kText + 8, 1);
  EXPECT_EQ(buffer[12], 32767);
  EXPECT_EQ(buffer[12 + 4], 1);
}

TEST_F(MonitorCalls, bsd_wraps_and_hpux_stays) {
  static unsigned short bsd[100], hpux[100];
  pctally_bsd_monitor(place(0), place(64), reinterpret_cast<short*>(bsd), sizeof bsd, 0);
  pctally_hpux_monitor(reinterpret_cast<void (*)()>(kText), reinterpret_cast<void (*)()>(kText + 64), hpux,
                       100, 0);
  tick_at(kText, 65535);
  tick_at(kText, 2);
  EXPECT_EQ(bsd[12], 1);
  EXPECT_EQ(hpux[12], 65535);
  pctally_hpux_monitor(nullptr, nullptr, nullptr, 0, 0);
}

// `char *buf, int bufsiz` in BSD's code: callers pass sizeof, and what lies behind the buffer is theirs.
TEST_F(MonitorCalls, bsd_takes_the_size_of_the_buffer_in_bytes) {
  Fenced buffer(200);
  auto* words = buffer.as<short>();
  auto call = [&](int bufsize) {
    return error_of([&] { pctally_bsd_monitor(place(0), place(64), words, bufsize, 0); });
  };
  EXPECT_EQ(call(202), EFAULT);
  EXPECT_EQ(call(0), EINVAL);
  EXPECT_EQ(call(-1), EINVAL);
  EXPECT_EQ(call(24 + 1), EINVAL);  // header, and half a counter
  words[99] = 77;
  EXPECT_EQ(call(199), 0);  // an odd byte is not used
  EXPECT_EQ(words[99], 77);
  EXPECT_EQ(call(200), 0);
  EXPECT_EQ(words[99], 0);
  EXPECT_EQ(call(24 + 32), 0);  // 4 bytes of text to a counter
  tick_at(kText + 63, 3);
  EXPECT_EQ(words[12 + 15], 3);
}

TEST_F(MonitorCalls, wrong_arguments_of_smonitor) {
  Fenced buffer(256);
  pctally_hpux_text_region regions[] = {{kText, kText + 64, nullptr}, {kText + 64, kText + 100, nullptr}};
  auto call = [&](int count, size_t bytes, unsigned flags, size_t skip = 0) {
    return error_of(
        [&] { pctally_hpux_smonitor(regions, count, buffer.as<char>() + skip, bytes, 0, flags); });
  };
  EXPECT_EQ(call(-1, 256, PCTALLY_HPUX_UINT), E2BIG);
  EXPECT_EQ(call(PCTALLY_HPUX_PROFIL_MAX + 1, 256, PCTALLY_HPUX_UINT), E2BIG);
  EXPECT_EQ(call(2, 256, 0), EINVAL);
  EXPECT_EQ(call(2, 256, 3), EINVAL);
  EXPECT_EQ(call(2, 257, PCTALLY_HPUX_UINT), EFAULT);
  EXPECT_EQ(call(2, 252, PCTALLY_HPUX_UINT, 2), EINVAL);  // not aligned
  EXPECT_EQ(call(2, 3, PCTALLY_HPUX_UINT), EINVAL);
  EXPECT_EQ(
      error_of([&] { pctally_hpux_smonitor(nullptr, 1, buffer.as<char>(), 256, 0, PCTALLY_HPUX_UINT); }),
      EFAULT);
  std::swap(regions[0], regions[1]);
  EXPECT_EQ(call(2, 256, PCTALLY_HPUX_UINT), EINVAL);
  std::swap(regions[0], regions[1]);
  EXPECT_EQ(call(2, 256, PCTALLY_HPUX_UINT), 0);
  EXPECT_EQ(call(2, 8, PCTALLY_HPUX_UINT), 0);  // one counter each
}

TEST_F(MonitorCalls, smonitor_divides_a_small_buffer) {
  pctally_hpux_text_region regions[] = {{kText, kText + 64, nullptr}, {kText + 100, kText + 132, nullptr}};
  static unsigned counts[12 + 1];
  counts[12] = 77;
  pctally_hpux_smonitor(regions, 2, counts, 12 * sizeof *counts, 0, PCTALLY_HPUX_UINT);
  tick_at(kText + 63, 5);
  tick_at(kText + 100, 7);
  tick_at(kText + 132, 9);
  EXPECT_EQ(counts[7], 5u);  // 8 bytes each: 8 and 4 counters
  EXPECT_EQ(counts[8], 7u);
  EXPECT_EQ(counts[12], 77u);
}

// The call clears the counters, and with them what lies there.
TEST_F(MonitorCalls, regions_of_smonitor_may_lie_in_its_own_counters_at_an_odd_address) {
  Fenced memory(1024);
  char* array = memory.as<char>() + 513;
  const pctally_hpux_text_region regions[] = {{kText, kText + 64, nullptr},
                                              {kText + 64, kText + 128, nullptr}};
  memcpy(array, regions, sizeof regions);
  pctally_hpux_smonitor(reinterpret_cast<pctally_hpux_text_region*>(array), 2, memory.as<char>(), 1024, 0,
                        PCTALLY_HPUX_UINT);
  tick_at(kText + 64, 5);
  EXPECT_EQ(memory.as<unsigned>()[16], 5u);
}

// "one for every 2, 4 or 8 bytes of code ..., or for the smallest multiple of that": to the last byte of a
// region that has a neighbour.
TEST_F(MonitorCalls, smonitor_profiles_the_ends_of_adjacent_regions) {
  pctally_hpux_text_region regions[] = {{kText, kText + 20000, nullptr},
                                        {kText + 20000, kText + 50000, nullptr}};
  static unsigned short counts[4];
  pctally_hpux_smonitor(regions, 2, counts, sizeof counts, 0, PCTALLY_HPUX_USHORT);  // 16384 bytes each
  tick_at(kText + 16383, 1);
  tick_at(kText + 16384, 2);
  tick_at(kText + 19999, 3);
  tick_at(kText + 20000, 7);
  tick_at(kText + 49999, 8);
  tick_at(kText + 50000, 9);
  EXPECT_EQ(counts[0], 1);
  EXPECT_EQ(counts[1], 5);
  EXPECT_EQ(counts[2], 7);
  EXPECT_EQ(counts[3], 8);
}

TEST_F(MonitorCalls, wrong_arguments_of_aix) {
  Fenced buffer(256);
  auto* counters = buffer.as<unsigned short>();
  EXPECT_EQ(pctally_aix_monitor(kText, kText, counters, 128, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_aix_monitor(kText, kText + 64, counters, 129, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(pctally_aix_monitor(kText, kText + 64, counters, -2, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_aix_monitor(1, 0, nullptr, -1, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  pctally_aix_prof ranges[3] = {};
  EXPECT_EQ(pctally_aix_monitor(1, 0, ranges, -1, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  char* low = reinterpret_cast<char*>(kText);
  ranges[0] = {low + 64, low + 128, counters, 32, UINT32_MAX};
  ranges[1] = {low, low + 64, counters + 32, 32, UINT32_MAX};
  EXPECT_EQ(pctally_aix_monitor(1, 0, ranges, -1, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  std::swap(ranges[0], ranges[1]);
  EXPECT_EQ(pctally_aix_monitor(1, 0, ranges, -1, 0), 0);
  tick_at(kText + 66, 3);
  EXPECT_EQ(counters[1], 3);
  EXPECT_EQ(pctally_aix_monstartup(kText + 8, kText + 4), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(pctally_aix_monitor(0, 0, nullptr, 0, 0), 0);
  EXPECT_TRUE(exists("gmon.out"));
}

TEST_F(MonitorCalls, arrays_of_aix_may_lie_at_odd_addresses) {
  static unsigned short counters[32];
  char array[3 * sizeof(pctally_aix_prof) + 1] = {};
  char* low = reinterpret_cast<char*>(kText);
  const pctally_aix_prof range = {low, low + 64, counters, 32, UINT32_MAX};
  memcpy(array + 1, &range, sizeof range);
  ASSERT_EQ(pctally_aix_monitor(1, 0, array + 1, -1, 0), 0);
  tick_at(kText + 2, 3);
  EXPECT_EQ(counters[1], 3);
  const pctally_aix_frag fragments[2] = {{low, low + 64}, {}};
  memcpy(array + 1, fragments, sizeof fragments);
  EXPECT_EQ(pctally_aix_monstartup(UINTPTR_MAX, reinterpret_cast<uintptr_t>(array + 1)), 0);
}

// "-1 with errno: EINVAL and EFAULT, and nothing has changed"
TEST_F(MonitorCalls, an_array_of_aix_that_fails_leaves_the_old_profile_on) {
  Fenced first(64), second(64);  // each can be written, what lies between them cannot
  char* low = reinterpret_cast<char*>(kText);
  auto *here = first.as<unsigned short>(), *there = second.as<unsigned short>();
  pctally_aix_prof ranges[3] = {{low, low + 64, here, 32, UINT32_MAX}};
  ASSERT_EQ(pctally_aix_monitor(1, 0, ranges, -1, 0), 0);
  tick_at(kText, 3);
  ranges[1] = {low + 64, low + 128, there, 32, UINT32_MAX};
  EXPECT_EQ(error_of([&] { (void)pctally_aix_monitor(1, 0, ranges, -1, 0); }), EFAULT);
  ranges[1] = {low + 64, low + 128, there, (1 << 30) + 1, UINT32_MAX};
  EXPECT_EQ(error_of([&] { (void)pctally_aix_monitor(1, 0, ranges, -1, 0); }), EINVAL);  // profil's limit
  tick_at(kText, 2);
  EXPECT_EQ(here[0], 5);
}

// A reader takes the counters for two bytes each; 0xffff of profil itself is a counter short after 64 KiB.
TEST_F(MonitorCalls, a_full_buffer_of_aix_has_two_bytes_to_a_counter_in_long_text) {
  constexpr unsigned kBytes = 4 * 65536 + 101, kCounters = (kBytes + 1) / 2;
  static unsigned short buffer[kCounters + 8];
  std::fill_n(buffer, kCounters + 8, 0xffff);
  ASSERT_EQ(pctally_aix_monitor(kText, kText + kBytes, buffer, kCounters + 8, 0), 0);
  unsigned short ticks = 0;
  for (unsigned distance : {0U, 65535U, 65536U, 65538U, 131070U, 131073U, 262142U, 262144U, kBytes - 1}) {
    tick_at(kText + distance, ++ticks);
    EXPECT_EQ(buffer[distance / 2], ticks) << distance;
  }
  EXPECT_EQ(std::count(buffer, buffer + kCounters + 8, 0), kCounters + 8 - ticks);
  EXPECT_EQ(pctally_aix_moncontrol(0), 1);
  tick_at(kText + 65538);
  EXPECT_EQ(pctally_aix_moncontrol(1), 0);
  tick_at(kText + kBytes);
  tick_at(kText + 200002);
  EXPECT_EQ(buffer[65538 / 2], 4);
  EXPECT_EQ(buffer[200002 / 2], 1);
  EXPECT_EQ(pctally_aix_monitor(0, 0, nullptr, 0, 0), 0);
  const std::string file = bytes_of("mon.out");
  ASSERT_EQ(file.size(), 3 * sizeof(size_t) + 2 * kCounters);
  EXPECT_EQ(
      file.compare(3 * sizeof(size_t), std::string::npos, reinterpret_cast<char*>(buffer), 2 * kCounters), 0);
  ASSERT_EQ(pctally_aix_profil(buffer, sizeof buffer, kText, 0xffff), 0);
  tick_at(kText + 65538, 7);
  EXPECT_EQ(buffer[65536 / 2], 3 + 7);
  EXPECT_EQ(pctally_aix_profil(buffer, sizeof buffer, kText, 0), 0);
}

TEST_F(MonitorCalls, wrong_arguments_of_aix_in_long_text) {
  Fenced buffer(2 * 65536);
  auto call = [&](unsigned bytes, int words) {
    return error_of([&] { (void)pctally_aix_monitor(kText, kText + bytes, buffer.as<char>(), words, 0); });
  };
  EXPECT_EQ(call(2 * 65536, 65537), EFAULT);
  EXPECT_EQ(call(2 * 65536, 65535), 0);  // a counter too few: one range
  EXPECT_EQ(call(2 * 65536, 65536), 0);
}

TEST_F(MonitorCalls, more_counters_than_a_profil_takes) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "there cannot be as many";
  Fenced buffer(4096);
  const auto high = static_cast<uintptr_t>(kText + (uint64_t{1} << 33));
  long low = static_cast<long>(kText), to = static_cast<long>(high);
  EXPECT_EQ(error_of([&] { pctally_tru64_monitor(low, to, buffer.as<char>(), LONG_MAX, 0); }), EINVAL);
  static unsigned counters[16];
  char* text = reinterpret_cast<char*>(kText);
  for (int shift : {24, 47, 48, 62}) {
    pctally_tru64_monitor_args range = {text, text + (uint64_t{1} << shift), counters, sizeof counters};
    EXPECT_EQ(error_of([&] { pctally_tru64_monitor(-1, 0, &range, 1, 0); }), EINVAL) << "2^" << shift;
  }
  for (uintptr_t end : {high, static_cast<uintptr_t>(kText + (uint64_t{1} << 31))})
    EXPECT_EQ(error_of([&] { (void)pctally_aix_monitor(kText, end, buffer.as<char>(), INT32_MAX, 0); }),
              EINVAL);
}

TEST_F(MonitorCalls, moncontrol_halts_and_goes_on) {
  pctally_tru64_moncontrol(1);  // without a monitor nothing happens
  pctally_tru64_monstartup(text(0), text(64));
  tick_at(kText + 4, 100000);
  pctally_tru64_moncontrol(0);
  tick_at(kText + 4, 1);
  pctally_tru64_moncontrol(1);
  tick_at(kText + 4, 2);
  pctally_tru64_monitor(0, 0, nullptr, 0, 0);
  std::string file = bytes_of("gmon.out");
  ASSERT_EQ(file.size(), 20u + 2 * 43);  // 100002 in two records of one counter
  auto counter = [&](size_t at) {
    return static_cast<unsigned char>(file[at]) + 256 * static_cast<unsigned char>(file[at + 1]);
  };
  EXPECT_EQ(counter(20 + 41) + counter(20 + 43 + 41), 100002);
}

// "without one it does nothing": neither does it end the program's own profil.
TEST_F(MonitorCalls, moncontrol_without_a_monitor_does_nothing) {
  unsigned short bsd[32] = {}, tru64[32] = {}, aix[32] = {}, glibc[32] = {};
  ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(bsd), 64, kText, 0x10000), 0);
  pctally_tru64_profil(tru64, 64, static_cast<long>(kText), 0x10000);
  ASSERT_EQ(pctally_aix_profil(aix, 64, kText, 0xffff), 0);
  pctally_glibc_prof entry{glibc, 64, kText, 0x10000};
  ASSERT_EQ(pctally_glibc_sprofil(&entry, 1, nullptr, PCTALLY_GLIBC_USHORT), 0);
  for (int mode : {0, 1}) {
    pctally_bsd_moncontrol(mode);
    pctally_tru64_moncontrol(mode);
    EXPECT_EQ(pctally_aix_moncontrol(mode), 0);
    pctally_glibc_moncontrol(mode);
    tick_at(kText);
  }
  EXPECT_EQ(bsd[0], 2);
  EXPECT_EQ(tru64[0], 2);
  EXPECT_EQ(aix[0], 2);
  EXPECT_EQ(glibc[0], 2);
  (void)pctally_bsd_profil(nullptr, 0, 0, 0);
  pctally_tru64_profil(nullptr, 0, 0, 0);
  (void)pctally_aix_profil(nullptr, 0, 0, 0);
  (void)pctally_glibc_sprofil(nullptr, 0, nullptr, 0);
}

TEST_F(MonitorCalls, moncontrol_of_aix_tells_the_state_before) {
  EXPECT_EQ(pctally_aix_moncontrol(1), 0);
  ASSERT_EQ(pctally_aix_monstartup(kText, kText + 200000), 0);
  EXPECT_EQ(pctally_aix_moncontrol(1), 1);
  EXPECT_EQ(pctally_aix_moncontrol(0), 1);
  EXPECT_EQ(pctally_aix_moncontrol(0), 0);
  EXPECT_EQ(pctally_aix_moncontrol(7), 0);
  tick_at(kText + 199998, 3);  // in the last of four pieces of 64 KiB
  EXPECT_EQ(pctally_aix_monitor(0, 0, nullptr, 0, 0), 0);
  std::string file = bytes_of("mon.out");
  ASSERT_EQ(file.size(), 24u + 200000);
  EXPECT_EQ(file[24 + 199998], 3);
}

// "EINVAL (empty range; nothing has changed)"
TEST_F(MonitorCalls, monstartup_of_no_text_leaves_the_old_profile_on) {
  pctally_aix_frag none[1] = {};
  pctally_bsd_monstartup(kText, kText + 64);
  ASSERT_EQ(pctally_aix_monstartup(kText, kText + 64), 0);
  EXPECT_EQ(error_of([&] { pctally_bsd_monstartup(kText + 8, kText + 8); }), EINVAL);
  EXPECT_EQ(error_of([&] { (void)pctally_aix_monstartup(UINTPTR_MAX, reinterpret_cast<uintptr_t>(none)); }),
            EINVAL);
  EXPECT_FALSE(exists("mon.out") || exists("gmon.out"));
  tick_at(kText, 3);
  pctally_bsd_mcleanup();
  EXPECT_EQ(pctally_aix_monitor(0, 0, nullptr, 0, 0), 0);
  EXPECT_EQ(bytes_of("mon.out")[24], 3);
  EXPECT_EQ(bytes_of("gmon.out")[20 + 41], 3);
}

// "the range is wrong and the call fails with ENOMEM": an etext cut to an int has its sign in all upper bits.
TEST_F(MonitorCalls, monstartup_of_more_than_half_the_address_space_is_enomem) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "there is room for the counters of a range of 2 GiB";
  struct {
    uintptr_t low, high;
  } ranges[] = {{2, UINTPTR_MAX - 0x5554aaaa}, {0, UINTPTR_MAX}, {1, UINTPTR_MAX}, {0, UINTPTR_MAX / 2 + 9}};
  for (auto [low, high] : ranges) {
    auto* from = reinterpret_cast<void*>(low);
    auto* to = reinterpret_cast<void*>(high);
    EXPECT_EQ(error_of([&] { pctally_bsd_monstartup(low, high); }), ENOMEM) << high;
    EXPECT_EQ(error_of([&] { pctally_glibc_monstartup(low, high); }), ENOMEM) << high;
    EXPECT_EQ(error_of([&] { pctally_tru64_monstartup(from, to); }), ENOMEM) << high;
    EXPECT_EQ(error_of([&] { (void)pctally_aix_monstartup(low, high); }), ENOMEM) << high;
  }
}

TEST_F(MonitorCalls, all_at_once_while_others_tick_and_fork) {
  std::atomic<bool> over = false;
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&] {
      while (!over) tick_at(kText + 4);
    });
  busy.emplace_back([&] {
    while (!over) {
      pid_t child = fork();
      if (child == 0) {
        pctally_bsd_monstartup(kText, kText + 64);  // every lock is free in the child
        pctally_bsd_moncontrol(0);
        _exit(0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
  });
  static unsigned short svr4[100];
  static unsigned counts[64];
  pctally_hpux_text_region region{kText, kText + 64, nullptr};
  for (int i = 0; i < 60; ++i) {
    pctally_svr4_monitor(place(0), place(64), svr4, 100, 0);
    pctally_hpux_smonitor(&region, 1, counts, sizeof counts, 0, PCTALLY_HPUX_UINT);
    pctally_tru64_monstartup(text(0), text(64));
    pctally_tru64_monitor(0, 0, nullptr, 0, 0);
    pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0);
    pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  }
  over = true;
  for (std::thread& one : busy) one.join();
  unsigned kept = counts[1];
  tick_at(kText + 4);
  EXPECT_EQ(counts[1], kept);
}

}  // namespace
}  // namespace pctally::manual
