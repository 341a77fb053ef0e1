// What the end of a monitor writes where there is no profile, no timer, no buffer, no room or no directory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tests/monitor/monitor_calls.h"

namespace pctally::manual {
namespace {

TEST_F(MonitorCalls, the_end_without_a_monitor_writes_nothing) {
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0);
  pctally_bsd_mcleanup();
  pctally_glibc_mcleanup();
  EXPECT_FALSE(exists("mon.out") || exists("gmon.out"));
}

/// Starts, starts again where no timer can be made, and ends; 0 if that is EAGAIN and leaves no file.
template <class Begin, class End>
int again_without_a_timer(Begin begin, End end) {
  errno = 0;
  begin();
  if (errno != 0) return 2;
  const rlimit none = {0, 0};
  setrlimit(RLIMIT_SIGPENDING, &none);
  begin();
  if (errno != EAGAIN) return 3;
  end();
  return access("mon.out", F_OK) == 0 || access("gmon.out", F_OK) == 0 ? 4 : 0;
}

// "With errno EAGAIN or ENOMEM nothing is on any more."
TEST_F(MonitorCalls, after_a_start_without_a_timer_the_end_writes_nothing) {
  setenv("PCTALLY_ENGINE", "timer", 1);
  static unsigned short words[100];
  static unsigned counts[32];
  char* low = reinterpret_cast<char*>(kText);
  static pctally_aix_prof aix[2] = {{low, low + 64, words, 32, UINT32_MAX}};
  static pctally_tru64_monitor_args tru64 = {low, low + 64, counts, sizeof counts};
  static pctally_hpux_text_region hpux = {kText, kText + 64, nullptr};
  auto in_child = [](auto begin, auto end) {
    const pid_t child = fork();
    if (child == 0) _exit(again_without_a_timer(begin, end));
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(in_child([] { pctally_svr4_monitor(place(0), place(64), words, 100, 0); },
                     [] { pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0); }),
            0);
  EXPECT_EQ(in_child([] { pctally_hpux_smonitor(&hpux, 1, counts, sizeof counts, 0, PCTALLY_HPUX_UINT); },
                     [] { pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0); }),
            0);
  EXPECT_EQ(in_child([] { pctally_tru64_monitor(-1, 0, &tru64, 1, 0); },
                     [] { pctally_tru64_monitor(0, 0, nullptr, 0, 0); }),
            0);
  EXPECT_EQ(in_child([] { (void)pctally_aix_monitor(1, 0, aix, -1, 0); },
                     [] { (void)pctally_aix_monitor(0, 0, nullptr, 0, 0); }),
            0);
}

TEST_F(MonitorCalls, the_second_end_writes_nothing) {
  static unsigned short buffer[100];
  pctally_svr4_monitor(place(0), place(64), buffer, 100, 0);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  ASSERT_EQ(unlink("mon.out"), 0);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  EXPECT_FALSE(exists("mon.out"));
}

/// Of the first counter in gmon.out, which is then removed; -1: there is no file.
int written() {
  std::ifstream file("gmon.out", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  unlink("gmon.out");
  return bytes.size() > 20 + 41 ? static_cast<unsigned char>(bytes[20 + 41]) : -1;
}

// macOS, monstartup: "to resume the collection of histogram ticks [...] use moncontrol(1)".
TEST_F(MonitorCalls, moncontrol_of_bsd_resumes_after_the_end_with_the_counters_as_they_were) {
  pctally_bsd_monstartup(kText, kText + 64);
  tick_at(kText, 3);
  pctally_bsd_mcleanup();
  EXPECT_EQ(written(), 3);
  tick_at(kText);
  pctally_bsd_mcleanup();
  pctally_bsd_moncontrol(0);
  EXPECT_EQ(written(), -1) << "nothing is new";
  pctally_bsd_moncontrol(1);
  tick_at(kText, 2);
  pctally_bsd_monitor(nullptr, nullptr, nullptr, 0, 0);
  EXPECT_EQ(written(), 5);
  pctally_bsd_moncontrol(1);
  tick_at(kText, 4);
  pctally_bsd_moncontrol(0);
  tick_at(kText);
  pctally_bsd_mcleanup();
  EXPECT_EQ(written(), 9);
  pctally_bsd_monstartup(kText, kText + 64);
  tick_at(kText);
  pctally_bsd_mcleanup();
  EXPECT_EQ(written(), 1) << "counters of its own";
}

// "an output file will be produced on program exit regardless of the state of moncontrol"
TEST_F(MonitorCalls, the_end_of_the_process_writes_what_bsd_has_resumed) {
  pctally_bsd_monstartup(kText, kText + 64);
  tick_at(kText, 3);
  pctally_bsd_mcleanup();
  EXPECT_EQ(written(), 3);
  for (int last_mode : {1, 0, -1}) {
    const pid_t child = fork();
    if (child == 0) {
      if (last_mode >= 0) pctally_bsd_moncontrol(1);
      if (last_mode >= 0) tick_at(kText, 2);
      if (last_mode == 0) pctally_bsd_moncontrol(0);
      exit(0);
    }
    waitpid(child, nullptr, 0);
    EXPECT_EQ(written(), last_mode < 0 ? -1 : 5) << last_mode;
  }
}

struct OneMonitor {
  const char* name;
  void (*begin)();
  void (*end)();
  void (*halt)();  ///< null: there is no such call
};

unsigned short g_words[100];
unsigned g_counts[32];
char* const g_low = reinterpret_cast<char*>(kText);
const pctally_aix_prof g_aix_ranges[2] = {{g_low, g_low + 64, g_words, 32, UINT32_MAX}};
const pctally_tru64_monitor_args g_tru64_range = {g_low, g_low + 64, g_counts, sizeof g_counts};
const pctally_hpux_text_region g_hpux_region = {kText, kText + 64, nullptr};
const OneMonitor kMonitors[] = {
    {"bsd", [] { pctally_bsd_monstartup(kText, kText + 64); }, [] { pctally_bsd_mcleanup(); },
     [] { pctally_bsd_moncontrol(0); }},
    {"glibc", [] { pctally_glibc_monstartup(kText, kText + 64); }, [] { pctally_glibc_mcleanup(); },
     [] { pctally_glibc_moncontrol(0); }},
    {"hpux",
     [] { pctally_hpux_smonitor(&g_hpux_region, 1, g_counts, sizeof g_counts, 0, PCTALLY_HPUX_UINT); },
     [] { pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0); }, nullptr},
    {"tru64",
     [] { pctally_tru64_monitor(-1, 0, const_cast<pctally_tru64_monitor_args*>(&g_tru64_range), 1, 0); },
     [] { pctally_tru64_monitor(0, 0, nullptr, 0, 0); }, nullptr},
    {"aix", [] { (void)pctally_aix_monitor(1, 0, const_cast<pctally_aix_prof*>(g_aix_ranges), -1, 0); },
     [] { (void)pctally_aix_monitor(0, 0, nullptr, 0, 0); }, [] { pctally_aix_moncontrol(0); }},
    {"svr4", [] { pctally_svr4_monitor(place(0), place(64), g_words, 100, 0); },
     [] { pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0); }, nullptr},
};

/// In the child of a vfork(2), which ends then.
[[gnu::noinline]] void in_lent_memory(void (*call)()) {
  const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): it is what is tested
  if (child == 0) {
    call();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

TEST_F(MonitorCalls, a_child_of_vfork_neither_ends_nor_replaces_its_parents) {
  setenv("PCTALLY_MONITOR", "gmon.out", 1);
  for (const OneMonitor& monitor : kMonitors) {
    monitor.begin();
    tick_at(kText);
    in_lent_memory(monitor.end);
    EXPECT_EQ(written(), -1) << monitor.name;
    in_lent_memory(monitor.begin);
    if (monitor.halt != nullptr) in_lent_memory(monitor.halt);
    tick_at(kText);
    monitor.end();
    EXPECT_EQ(written(), 2) << monitor.name;
  }
}

TEST_F(MonitorCalls, moncontrol_resumes_no_counters_that_are_gone) {
  unsigned short own[32] = {};
  auto nothing_is_on = [] { return pctally_count(text(), 1) == -1; };
  pctally_bsd_monstartup(kText, kText + 64);
  pctally_bsd_mcleanup();
  EXPECT_EQ(error_of([] { pctally_bsd_monstartup(0, UINTPTR_MAX); }), ENOMEM);
  pctally_bsd_moncontrol(1);
  EXPECT_TRUE(nothing_is_on());
  pctally_bsd_monitor(place(0), place(32), reinterpret_cast<short*>(own), sizeof own, 0);
  pctally_bsd_monitor(nullptr, nullptr, nullptr, 0, 0);
  pctally_bsd_moncontrol(1);
  EXPECT_TRUE(nothing_is_on()) << "the caller's own may be gone";
  pctally_glibc_monstartup(kText, kText + 64);
  pctally_glibc_mcleanup();
  pctally_glibc_moncontrol(1);
  EXPECT_TRUE(nothing_is_on()) << "glibc's end frees them";
}

TEST_F(MonitorCalls, a_buffer_that_is_gone_is_one_line_and_no_file) {
  Fenced buffer(4096);
  pctally_svr4_monitor(place(0), place(64), buffer.as<unsigned short>(), 2048, 0);
  buffer.unmap();
  tick_at(kText);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  EXPECT_FALSE(exists("mon.out"));
  EXPECT_EQ(stderr_text(),
            "pctally: no profile written: the counters are gone; end monitor before the buffer goes\n");
}

TEST_F(MonitorCalls, a_line_that_finds_no_room_in_the_file_of_errors_is_no_death) {
  const pid_t child = fork();
  if (child == 0) {
    static unsigned short buffer[100];
    const int errors = open("errors", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const rlimit limit = {10, 10};
    if (write(errors, "0123456789", 10) != 10 || dup2(errors, STDERR_FILENO) < 0) _exit(2);
    setrlimit(RLIMIT_FSIZE, &limit);
    setenv("PROFDIR", "/nowhere", 1);
    pctally_svr4_monitor(place(0), place(64), buffer, 100, 0);
    pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);  // a signal, SIGXFSZ, is in its lower bits
  EXPECT_EQ(bytes_of("errors"), "0123456789");
}

TEST_F(MonitorCalls, a_name_with_control_bytes_steers_no_terminal) {
  static unsigned short buffer[100];
  setenv("PROFDIR", "/no\033[2J\nwhere", 1);
  pctally_svr4_monitor(place(0), place(64), buffer, 100, 0);
  pctally_svr4_monitor(nullptr, nullptr, nullptr, 0, 0);
  std::string line = stderr_text();
  EXPECT_EQ(line.find('\033'), std::string::npos);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  setenv("PROFDIR", std::string(5000, 'x').c_str(), 1);
}

}  // namespace
}  // namespace pctally::manual
