// Nintendo 64 osProfile(3P), sentence by sentence: DESCRIPTION. Table T8: one segment 0x80200050..0x80200124.
#include <string.h>

#include <algorithm>

#include "tests/manual/n64_page.h"

namespace pctally::manual {
namespace {

using n64_osprofile_description = N64Page;

TEST_F(n64_osprofile_description, cpu_time_of_disjoint_text_spaces) {
  use_clock();
  std::vector<u16> hot(kBurnBytes / 4);
  OSProf list[] = {{hot.data(), kBurnBytes / 4, code(text_of<uintptr_t>(burn)),
                    code(text_of<uintptr_t>(burn) + kBurnBytes)},
                   segment};
  osProfileInit(list, 2);
  osProfileStart(10000);
  burn(400'000'000);
  osProfileStop();
  EXPECT_GE(sum(hot), 20u);
  EXPECT_LE(sum(hot), 60u);
  EXPECT_EQ(sum(bins), 0u);
}

TEST_F(n64_osprofile_description, list_of_regions) {
  alignas(4) u16 other[4] = {}, third[4] = {};
  OSProf list[] = {segment, {other, 4, code(kText), code(kText + 16)}, {third, 4, code(0x100), code(0x110)}};
  osProfileInit(list, 3);
  osProfileStart(10000);
  tick_at(kStart);
  tick_at(kText + 4), tick_at(kText + 7);
  tick_at(0x10f);
  EXPECT_EQ(bins[0], 1);
  EXPECT_EQ(other[1], 2);
  EXPECT_EQ(third[3], 1);
  EXPECT_EQ(overflow(), 0u);
}

TEST_F(n64_osprofile_description, profcnt_is_the_number_of_segments) {
  alignas(4) u16 other[4] = {7, 7, 7, 7};
  OSProf list[] = {segment, {other, 4, code(kText), code(kText + 16)}};
  osProfileInit(list, 1);
  osProfileStart(10000);
  tick_at(kText);
  EXPECT_EQ(other[0], 7) << "not cleared, not counted";
  EXPECT_EQ(overflow(), 1u);
}

TEST_F(n64_osprofile_description, gperf_copies_the_histogram_to_the_host) {
  init_and_start();
  tick_at(kStart, 3), tick_at(kStart + 208, 0x1234), tick_at(1, 5);
  auto dump = dump_self();
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->sections, 1u);
  EXPECT_EQ(dump->period_us, 10000u);
  EXPECT_EQ(dump->overflow, 5u);
  EXPECT_EQ(dump->starts[0], kStart);
  EXPECT_EQ(dump->counters[0], std::vector<u16>(bins, bins + 53));
  EXPECT_EQ(dump->counters[0][52], 0x1234);
}

TEST_F(n64_osprofile_description, elements_of_osprof) {
  EXPECT_EQ(sizeof(OSProf), 4 * sizeof(void*)) << "native pointers";
  u16* base = segment.histo_base;
  u32 size = segment.histo_size;
  u32* start = segment.text_start;
  EXPECT_EQ(base, bins);
  EXPECT_EQ(size, 53u);
  EXPECT_EQ(segment.text_end - start, 53);
}

TEST_F(n64_osprofile_description, histo_size_bounds_the_counters) {
  Fenced fence(2 * 16);  // the console's check lets 16 counters pass for 53 words, and then wrote behind them
  segment.histo_base = fence.as<u16>();
  segment.histo_size = 16;
  init_and_start();
  for (uintptr_t pc = kStart; pc < kEnd; pc += 4) tick_at(pc);
  EXPECT_EQ(last_error(), 0);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(segment.histo_base[i], 1);
  EXPECT_EQ(overflow(), 53u - 16);
}

TEST_F(n64_osprofile_description, one_counter_for_each_word) {
  init_and_start();
  for (uintptr_t pc = kStart; pc < kEnd; ++pc) tick_at(pc);
  for (int i = 0; i < 53; ++i) EXPECT_EQ(bins[i], 4);
  EXPECT_EQ(bins[53], 0);
}

TEST_F(n64_osprofile_description, text_start_is_the_first_instruction) {
  init_and_start();
  tick_at(kStart), tick_at(kStart + 3), tick_at(kStart + 4);
  tick_at(kStart - 4);
  EXPECT_EQ(bins[0], 2);
  EXPECT_EQ(bins[1], 1);
  EXPECT_EQ(overflow(), 1u);
}

/// The page calls it the last instruction; the sample report's size (0xd4 for 53 counters) and the library
/// say it is the first byte behind.
TEST_F(n64_osprofile_description, text_end_ends_the_segment) {
  init_and_start();
  tick_at(0x80200120);
  tick_at(0x80200124);
  EXPECT_EQ(bins[52], 1);
  EXPECT_EQ(bins[53], 0);
  EXPECT_EQ(overflow(), 1u);
  osProfileStop();
  segment.histo_size = 64;
  init_and_start();
  tick_at(kEnd);
  EXPECT_EQ(bins[53], 0) << "though there is a counter";
  EXPECT_EQ(overflow(), 1u);
}

TEST_F(n64_osprofile_description, overflow_counts_what_is_outside) {
  init_and_start();
  tick_at(0x8020004c), tick_at(0), tick_at(UINTPTR_MAX), tick_at(kEnd + 1000, 7);
  EXPECT_EQ(sum(bins), 0u);
  EXPECT_EQ(overflow(), 10u);
}

TEST_F(n64_osprofile_description, overflow_has_32_bits) {
  init_and_start();
  tick_at(1, 0xffffffff);
  EXPECT_EQ(overflow(), 0xffffffffu);
  tick_at(1);
  EXPECT_EQ(overflow(), 0u);
}

TEST_F(n64_osprofile_description, counters_have_16_bits) {
  static_assert(sizeof *segment.histo_base == 2);
  init_and_start();
  tick_at(kStart, 65535);
  EXPECT_EQ(bins[0], 65535);
  EXPECT_EQ(bins[1], 0);
}

TEST_F(n64_osprofile_description, counters_wrap) {
  init_and_start();
  tick_at(kStart, 65535);
  tick_at(kStart);
  EXPECT_EQ(bins[0], 0);
  EXPECT_EQ(bins[1], 0);
}

TEST_F(n64_osprofile_description, init_initializes_and_starts_the_io_thread) {
  bins[3] = 9;
  init();
  EXPECT_EQ(bins[3], 0);
  EXPECT_TRUE(dump_self());
  std::string status = status_of_io_thread();
  ASSERT_NE(status.find("SigBlk:"), std::string::npos);
  uint64_t blocked = strtoull(status.c_str() + status.find("SigBlk:") + 7, nullptr, 16);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    EXPECT_TRUE(signal == SIGKILL || signal == SIGSTOP || (signal >= 32 && signal < SIGRTMIN) ||
                (blocked >> (signal - 1) & 1) != 0)
        << signal;
}

// A daemon closes the descriptors that it does not know.
TEST_F(n64_osprofile_description, init_starts_the_io_thread_again_where_its_socket_was_closed) {
  int status = in_child([this] {
    for (int round = 0; round < 3; ++round) {
      init();
      if (!dump_self()) return 1;
      usleep(round * 50'000);  // the thread is in its call of poll(2), or on its way there
      for (int fd = 3; fd < 256; ++fd) close(fd);
    }
    init();
    return dump_self() ? 0 : 2;
  });
  EXPECT_EQ(status, 0) << "gperf is not answered";
}

TEST_F(n64_osprofile_description, init_clears_the_counters) {
  init_and_start();
  tick_at(kStart), tick_at(1);
  osProfileStop();
  std::fill(std::begin(bins), std::end(bins), u16{5});
  init();
  EXPECT_EQ(std::vector<u16>(bins, bins + 53), std::vector<u16>(53));
  EXPECT_EQ(bins[53], 5) << "not its counter";
  EXPECT_EQ(overflow(), 0u);
}

TEST_F(n64_osprofile_description, data_can_be_dumped_any_time_after_init) {
  init();
  EXPECT_TRUE(dump_self());
  osProfileStart(10000);
  tick_at(kStart);
  EXPECT_EQ(dump_self().value_or(Dump{}).counters.at(0)[0], 1);
  osProfileStop();
  EXPECT_EQ(dump_self().value_or(Dump{}).counters.at(0)[0], 1);
  EXPECT_EQ(dump_self().value_or(Dump{}).counters.at(0)[0], 1) << "as often as one likes";
}

TEST_F(n64_osprofile_description, without_init_nothing_goes_wrong) {
  EXPECT_EQ(in_child([] {  // of a program that never called it
              execlp("/proc/self/exe", "n64", "--gtest_filter=n64_osprofile_alone.*", "--gtest_brief=1",
                     nullptr);
              return 1;
            }),
            0);
}

using n64_osprofile_alone = N64Page;

TEST_F(n64_osprofile_alone, start_stop_flush) {
  osProfileFlush();
  osProfileStart(10000);
  tick_at(1);
  osProfileFlush();
  osProfileStop();
  EXPECT_EQ(last_error(), 0);
}

// "A thread is started in order to service requests". No error is named for where it cannot be.
TEST_F(n64_osprofile_description, init_without_a_thread_counts_and_says_so_if_asked) {
  auto said_by_init = [&](const char* verbose) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(in_child([&] {  // which has no thread from before
                setenv("PCTALLY_VERBOSE", verbose, 1);
                const rlimit none{1, 1};
                setrlimit(RLIMIT_NOFILE, &none);
                init_and_start();
                tick_at(kStart);
                return bins[0] == 1 && last_error() == 0 ? 0 : 1;
              }),
              0);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said_by_init("1").find("pctally: n64: gperf cannot ask this process: socket: "), 0u);
  EXPECT_EQ(said_by_init("0"), "");
}

// The counters of the old list may be gone when the transfer gets to them.
TEST_F(n64_osprofile_description, a_list_replaced_during_a_transfer_ends_it) {
  std::vector<u32> counters(2 << 20);  // 8 MiB: more than a socket holds
  OSProf large{reinterpret_cast<u16*>(counters.data()), 4 << 20, code(0x1000), code(0x1000 + (16 << 20))};
  osProfileInit(&large, 1);
  ASSERT_EQ(last_error(), 0);
  Host host(query_self());
  Dump dump;
  ASSERT_TRUE(host.receive_header(&dump) && host.receive_start(&dump)) << "the segment has begun";
  init();
  EXPECT_FALSE(host.receive_segments(dump).has_value()) << "and has been broken off";
  EXPECT_TRUE(dump_self().has_value()) << "the next one is whole";
}

size_t open_descriptors() {
  auto all = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Counters read as 0 where their memory is gone, and not where the program has no descriptor for a pipe.
TEST_F(n64_osprofile_description, without_descriptors_a_transfer_breaks_off) {
  init();
  tick_at(kStart, 4);
  {
    Host idle(query_self());
    EXPECT_TRUE(idle.receive().has_value());
    idle.await_end();  // and those of other tests have ended before
  }
  const size_t before = open_descriptors();
  Host host(connect_self());
  while (open_descriptors() < before + 2) usleep(100);  // until the other side has its end
  rlimit usual{};
  getrlimit(RLIMIT_NOFILE, &usual);
  const rlimit none{1, usual.rlim_max};  // poll(2) needs one
  setrlimit(RLIMIT_NOFILE, &none);
  host.say('q');
  EXPECT_FALSE(host.receive().has_value());
  setrlimit(RLIMIT_NOFILE, &usual);
  EXPECT_TRUE(dump_self().has_value()) << "the next one is whole";
}

TEST_F(n64_osprofile_description, start_starts_the_interval_counter) {
  use_clock();
  init();
  burn(50'000'000);
  EXPECT_EQ(overflow(), 0u) << "not before";
  uint64_t used = process_cpu_ns();
  osProfileStart(10000);
  burn(400'000'000);
  osProfileStop();
  used = process_cpu_ns() - used;
  double wanted = static_cast<double>(used) / 10e6;
  EXPECT_LE(overflow(), wanted + 2) << "a tick at either end";
  EXPECT_GE(overflow(), wanted * 0.8 - 2) << "a machine whose host stops it may lose its last kernel ticks";
}

uint64_t system_ns() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<uint64_t>(used.ru_stime.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(used.ru_stime.tv_usec) * 1000;
}

TEST_F(n64_osprofile_description, microseconds_is_the_period) {
  use_clock();
  init();
  uint64_t used = process_cpu_ns(), system = system_ns();
  t_held_ns = 0;
  osProfileStart(1000);
  burn(300'000'000);
  osProfileStop();
  used = process_cpu_ns() - used, system = system_ns() - system;
  // The trap draws its periods: 300 ticks have a standard deviation of 5; it leaves kernel mode out, and has
  // no ticks of what the host held.
  const double most = static_cast<double>(used) / 1e6,
               unseen = strcmp(pctally_engine(), "trap") == 0
                            ? static_cast<double>(std::min(used, system + t_held_ns)) / 1e6
                            : 0;
  EXPECT_LE(overflow(), most * 1.2);
  EXPECT_GE(overflow(), (most - unseen) * 0.8);
  EXPECT_EQ(dump_self().value_or(Dump{}).period_us, 1000u);
}

TEST_F(n64_osprofile_description, prof_min_interval) {
  EXPECT_EQ(PROF_MIN_INTERVAL, 50);
  use_clock();
  init();
  osProfileStart(PROF_MIN_INTERVAL);
  EXPECT_EQ(last_error(), 0);
  burn(200'000'000);
  osProfileStop();
  // 4000, where a tick costs nothing: it may take most of the 50 us. The kernel's clock gives 50.
  EXPECT_GE(overflow(), 500u);
  EXPECT_LE(overflow(), 6000u);
}

TEST_F(n64_osprofile_description, every_interrupt_increments_one_counter) {
  init_and_start();
  tick_at(kStart + 4);
  EXPECT_EQ(bins[1], 1);
  EXPECT_EQ(sum(bins), 1u);
  EXPECT_EQ(overflow(), 0u);
}

TEST_F(n64_osprofile_description, stop_turns_profiling_off) {
  init_and_start();
  osProfileStop();
  EXPECT_EQ(pctally_count(code(kStart), 1), -1);
  EXPECT_EQ(last_error(), 0);
}

TEST_F(n64_osprofile_description, data_remains_after_stop) {
  init_and_start();
  tick_at(kStart), tick_at(1);
  osProfileStop();
  tick_at(kStart), tick_at(1);
  EXPECT_EQ(bins[0], 1);
  EXPECT_EQ(overflow(), 1u);
}

TEST_F(n64_osprofile_description, io_thread_runs_on_after_stop) {
  init_and_start();
  osProfileStop();
  EXPECT_TRUE(dump_self());
  EXPECT_FALSE(status_of_io_thread().empty());
}

TEST_F(n64_osprofile_description, start_resumes_after_stop) {
  init_and_start();
  tick_at(kStart), tick_at(1);
  osProfileStop();
  osProfileStart(20000);
  tick_at(kStart), tick_at(1);
  EXPECT_EQ(bins[0], 2);
  EXPECT_EQ(overflow(), 2u);
  EXPECT_EQ(last_error(), 0);
}

TEST_F(n64_osprofile_description, flush_transfers_to_a_server) {
  init_and_start();
  tick_at(kStart, 4);
  std::optional<Dump> dump;
  Server server;
  std::thread host([&] { dump = server.receive(); });
  osProfileFlush();
  host.join();
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->counters.at(0)[0], 4);
}

TEST_F(n64_osprofile_description, flush_is_no_cancellation_point) {
  init_and_start();
  tick_at(kStart, 4);
  Server server;
  std::optional<Dump> dump;
  std::thread host([&] { dump = server.receive(); });
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* { return pthread_cancel(pthread_self()), osProfileFlush(), nullptr; }, nullptr);
  void* result = nullptr;
  pthread_join(thread, &result);
  host.join();
  EXPECT_EQ(result, nullptr);
  ASSERT_TRUE(dump);
  EXPECT_EQ(dump->counters.at(0)[0], 4);
}

TEST_F(n64_osprofile_description, query_at_any_time_while_executing) {
  use_clock();
  init_and_start();
  std::thread work([] { burn(300'000'000); });
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(dump_self()) << i;
  work.join();
}

}  // namespace
}  // namespace pctally::manual
