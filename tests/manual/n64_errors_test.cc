// Nintendo 64 osProfile(3P), sentence by sentence: the errors, and BUGS.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/manual/n64_page.h"

namespace pctally::manual {
namespace {

using n64_osprofile_errors = N64Page;
using n64_osprofile_bugs = N64Page;

TEST_F(n64_osprofile_errors, handler_gets_code_and_arguments) {
  EXPECT_EQ(osSetErrorHandler(note_error), note_error) << "the one before";
  segment.text_start = segment.text_end;
  init();
  ASSERT_EQ(g_errors.size(), 1u);
  EXPECT_EQ(g_errors[0].code, 64);
  EXPECT_EQ(g_errors[0].count, 2);
  EXPECT_EQ(g_errors[0].arguments[0], kEnd);
  EXPECT_EQ(g_errors[0].arguments[1], kEnd);
}

TEST_F(n64_osprofile_errors, default_handler_prints_code_and_text) {
  osSetErrorHandler(nullptr);
  testing::internal::CaptureStderr();
  osProfileStop();
  segment.text_start = code(UINTPTR_MAX - 0xff);
  init();
  osProfileInit(&segment, 0);
  std::string text = testing::internal::GetCapturedStderr();
  std::string count = "0x[0-9A-F]{8} ", all_digits(2 * sizeof(void*) - 2, 'f');
  EXPECT_THAT(text,
              testing::MatchesRegex(count + "\\(0068\\):osProfileStop: profiling has already been stopped\n" +
                                    count + "\\(0064\\):osProfileInit: text_start \\(" + all_digits +
                                    "00\\) >= text_end "
                                    "\\(80200124\\)\n" +
                                    count + "\\(0062\\):osProfileInit: profcnt is 0\n"));
}

TEST_F(n64_osprofile_errors, default_handler_whose_line_nobody_reads_ends_no_program) {
  osSetErrorHandler(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    int ends[2];
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0) _exit(2);
    close(ends[0]);
    osProfileStop();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);  // a signal, SIGPIPE, is in its lower bits
}

TEST_F(n64_osprofile_errors, init_str) {
  init_and_start();
  tick_at(kStart);
  init();
  EXPECT_EQ(last_error(), 61);
  tick_at(kStart);
  EXPECT_EQ(bins[0], 2) << "it counts on, and nothing was cleared";
}

TEST_F(n64_osprofile_errors, init_cnt) {
  for (u32 count : {0u, 4097u, 0xffffffffu}) {
    osProfileInit(&segment, count);
    EXPECT_EQ(last_error(), 62);
    EXPECT_EQ(g_errors.back().arguments[0], static_cast<uintptr_t>(static_cast<int>(count)));
  }
  g_errors.clear();
  osProfileInit(nullptr, 1);
  EXPECT_EQ(last_error(), 62) << "no list to be read";
  Fenced fence(sizeof segment);
  *fence.as<OSProf>() = segment;
  osProfileInit(fence.as<OSProf>(), 2);
  EXPECT_EQ(g_errors.size(), 2u) << "half a list";
}

TEST_F(n64_osprofile_errors, init_aln) {
  for (size_t odd : {1, 2, 3}) {
    g_errors.clear();
    segment.histo_base = reinterpret_cast<u16*>(reinterpret_cast<char*>(bins) + odd);
    init();
    EXPECT_EQ(last_error(), 63);
    EXPECT_EQ(g_errors.at(0).arguments[0], reinterpret_cast<uintptr_t>(bins) + odd);
  }
}

TEST_F(n64_osprofile_errors, init_ord) {
  segment.text_end = segment.text_start;
  init();
  EXPECT_EQ(last_error(), 64);
  segment.text_end = code(kStart + 1);
  init();
  EXPECT_EQ(g_errors.size(), 1u) << "less than a word is a segment";
}

TEST_F(n64_osprofile_errors, init_siz) {
  segment.histo_size = 12;  // below a quarter of the words, as the library tests it
  init();
  EXPECT_EQ(last_error(), 65);
  EXPECT_EQ(g_errors.back().arguments[0], 12u);
  segment.histo_size = 13;
  init();
  EXPECT_EQ(g_errors.size(), 1u);
  segment.histo_size = 0;
  segment.text_end = code(kStart + 8);
  init();
  EXPECT_EQ(g_errors.size(), 2u) << "no counter at all";
  Fenced fence(100);
  segment = {fence.as<u16>(), 51, code(kStart), code(kEnd)};
  init();
  EXPECT_EQ(g_errors.size(), 3u) << "more than can be written";
  segment = {nullptr, 53, code(kStart), code(kEnd)};
  init();
  EXPECT_EQ(g_errors.size(), 4u);
}

TEST_F(n64_osprofile_errors, start_time) {
  init();
  osProfileStart(49);
  EXPECT_EQ(last_error(), 66);
  osProfileStart(0);
  EXPECT_EQ(g_errors.size(), 2u);
  tick_at(kStart);
  EXPECT_EQ(bins[0], 0) << "not started";
}

TEST_F(n64_osprofile_errors, start_flag) {
  init_and_start();
  osProfileStart(10000);
  EXPECT_EQ(last_error(), 67);
  tick_at(kStart);
  EXPECT_EQ(bins[0], 1) << "it goes on as it was";
}

TEST_F(n64_osprofile_errors, stop_flag) {
  init_and_start();
  osProfileStop();
  EXPECT_EQ(last_error(), 0);
  osProfileStop();
  EXPECT_EQ(last_error(), 68);
}

TEST_F(n64_osprofile_errors, stop_timer) {
  use_clock();
  EXPECT_EQ(in_child([&] {
              rlimit none{0, 0};
              setrlimit(RLIMIT_SIGPENDING, &none);  // so that timer_create fails
              init_and_start();
              tick_at(kStart);
              osProfileStop();
              return bins[0] == 1 && g_errors.size() == 1 ? last_error() : 0;
            }),
            69);
}

TEST_F(n64_osprofile_bugs, flush_without_gperf_is_harmless) {
  init_and_start();
  for (int i = 0; i < 100; ++i) osProfileFlush();
  std::optional<Dump> dump;
  Server server;
  std::thread host([&] { dump = server.receive(); });
  osProfileFlush();
  host.join();
  EXPECT_TRUE(dump) << "and nothing unexpected happens later";
}

TEST_F(n64_osprofile_bugs, flush_to_a_silent_gperf_ends) {
  init_and_start();
  const auto time_of = [](int flushes) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < flushes; ++i) osProfileFlush();
    return std::chrono::steady_clock::now() - begun;
  };
  const auto without_gperf = time_of(100);
  Server never_accepts;
  EXPECT_LT(without_gperf, time_of(1)) << "a gperf that is not there is not waited for";
}

TEST_F(n64_osprofile_bugs, overlapping_segments_are_not_checked) {
  alignas(4) u16 wide[100] = {};
  OSProf list[] = {segment, {wide, 100, code(kStart - 40), code(kStart + 360)}};
  osProfileInit(list, 2);
  EXPECT_EQ(last_error(), 0);
  osProfileStart(10000);
  for (uintptr_t pc = kStart - 40; pc < kStart + 360; pc += 4) tick_at(pc);
  for (int i = 0; i < 53; ++i) EXPECT_EQ(bins[i], 1) << "the first in the list has them";
  EXPECT_EQ(sum(wide), 47u);
  EXPECT_EQ(wide[9], 1);
  EXPECT_EQ(wide[10], 0);
  EXPECT_EQ(wide[63], 1);
}

TEST_F(n64_osprofile_bugs, counters_taken_away_harm_nobody) {
  Fenced fence(4096);
  alignas(4) u16 other[4] = {};
  OSProf list[] = {{fence.as<u16>(), 2048, code(kStart), code(kStart + 8192)},
                   {other, 4, code(kText), code(kText + 16)}};
  osProfileInit(list, 2);
  osProfileStart(10000);
  fence.unmap();
  tick_at(kStart), tick_at(kText);
  EXPECT_EQ(other[0], 1);
  auto dump = dump_self();
  ASSERT_TRUE(dump);
  EXPECT_EQ(sum(dump->counters.at(0)), 0u);
  EXPECT_EQ(dump->counters.at(1)[0], 1);
}

TEST_F(n64_osprofile_bugs, forked_child_counts_for_itself) {
  init_and_start();
  EXPECT_EQ(in_child([&] {
              tick_at(kStart);
              osProfileFlush();
              osProfileStop();
              return bins[0] == 1 && last_error() == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(bins[0], 0);
  EXPECT_TRUE(dump_self()) << "the child left the socket alone";
}

}  // namespace
}  // namespace pctally::manual
