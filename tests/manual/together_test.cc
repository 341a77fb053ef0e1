// All dialects in one process: side by side, turned on and off under load, among the program's
// own fault handlers.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>

#include <atomic>
#include <random>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/n64.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

using dialects_together = Page;

void all_off() {
  pctally_hpux_sprofil(nullptr, 0, nullptr, 0);
  pctally_irix_sprofil(nullptr, 0, nullptr, 0);
  pctally_glibc_profil(nullptr, 0, 0, 0);
  pctally_svr4_profil(nullptr, 0, 0, 0);
  pctally_bsd_profil(nullptr, 0, 0, 0);
  pctally_tru64_profil(nullptr, 0, 0, 0);
  pctally_aix_prof end{};
  pctally_aix_profil(nullptr, 2, 0, 0);  // each form ends its own alone
  pctally_aix_profil(&end, ~0u, 0, 0);
}

TEST_F(dialects_together, each_by_its_own_rules) {
  uint16_t hpux[32] = {}, irix[32] = {}, svr4[32] = {}, bsd[32] = {}, tru64[32] = {}, aix[32] = {},
           glibc[32] = {};
  pctally_hpux_prof hpux_entry{hpux, 64, text(), 0xc000};
  pctally_irix_prof irix_entry{irix, 64, kText, 0xc000};
  svr4[1] = bsd[1] = 32767;
  ASSERT_EQ(pctally_hpux_sprofil(&hpux_entry, 1, nullptr, PCTALLY_HPUX_USHORT), 0);
  ASSERT_EQ(pctally_irix_sprofil(&irix_entry, 1, nullptr, PCTALLY_IRIX_USHORT), 0);
  ASSERT_EQ(pctally_svr4_profil(svr4, 64, kText, 0xc000), 0);
  ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(bsd), 64, kText, 0xc000), 0);
  pctally_tru64_profil(tru64, 64, static_cast<long>(kText), 0xc000);
  ASSERT_EQ(pctally_aix_profil(aix, 64, kText, 0xc000), 0);
  ASSERT_EQ(pctally_glibc_profil(glibc, 64, kText, 0xc000), 0);
  tick_at(kText + 3), tick_at(kText + 2);
  all_off();
  EXPECT_EQ(hpux[1], 1);
  EXPECT_EQ(hpux[0], 1);
  EXPECT_EQ(irix[1], 1);
  EXPECT_EQ(svr4[1], 32767);
  EXPECT_EQ(svr4[0], 0) << "SVR4's stop is its own alone";
  EXPECT_EQ(bsd[1], 32768);
  EXPECT_EQ(tru64[1], 1);
  EXPECT_EQ(aix[1], 2);
  EXPECT_EQ(glibc[0], 2);
}

/// In a child: the thread that it starts ends with it.
TEST_F(dialects_together, osprofile_beside_profil) {
  EXPECT_EQ(in_child([] {
              alignas(4) static uint16_t n64[16];  // the profile keeps it
              uint16_t tru64[32] = {}, aix[32] = {};
              auto* start = static_cast<uint32_t*>(text());
              pctally_n64_prof segment{n64, 16, start, start + 16};
              osProfileInit(&segment, 1);
              osProfileStart(10000);
              pctally_tru64_profil(tru64, 64, static_cast<long>(kText), 0x10000);
              EXPECT_EQ(pctally_aix_profil(aix, 64, kText, 0xffff), 0);
              tick_at(kText + 4);
              pctally_tru64_profil(nullptr, 0, 0, 0);
              tick_at(kText + 4);
              osProfileStop();
              tick_at(kText + 4);
              all_off();
              EXPECT_EQ(tru64[2], 1);
              EXPECT_EQ(n64[1], 2);
              EXPECT_EQ(aix[2], 3);
              return HasFailure() ? 1 : 0;
            }),
            0);
}

// "EAGAIN of a call that changes PCTALLY_..._FAST ends profiling"; of another call it changes nothing.
TEST_F(dialects_together, another_rate_without_a_timer_ends_the_profile) {
  setenv("PCTALLY_ENGINE", "timer", 1);
  const pid_t child = fork();
  if (child == 0) {
    static uint16_t cells[2];
    pctally_irix_prof irix{cells, 2, 0, 2};
    pctally_glibc_prof glibc{cells, 2, 0, 2};
    int wrong = pctally_irix_sprofil(&irix, 1, nullptr, PCTALLY_IRIX_USHORT) == 0 ? 0 : 1;
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_SIGPENDING, &none);
    if (pctally_glibc_sprofil(&glibc, 1, nullptr, 0) == 0 || errno != EAGAIN) wrong |= 2;
    if (pctally_irix_sprofil(&irix, 1, nullptr, PCTALLY_IRIX_USHORT) != 0) wrong |= 4;
    if (pctally_count(text(), 1) != 0) wrong |= 8;
    const int fast = pctally_irix_sprofil(&irix, 1, nullptr, PCTALLY_IRIX_USHORT | PCTALLY_IRIX_FAST);
    if (fast == 0 || errno != EAGAIN) wrong |= 16;
    if (pctally_count(text(), 1) == 0) wrong |= 32;
    _exit(wrong);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(dialects_together, clocks_side_by_side) {
  use_clock();
  uint16_t hpux[kBurnBytes / 2] = {}, svr4[kBurnBytes / 2] = {}, tru64[kBurnBytes / 2] = {};
  pctally_hpux_prof entry{hpux, kBurnBytes, text_of<void*>(burn), 0x10000};
  ASSERT_EQ(pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT), 0);
  pctally_svr4_profil(svr4, kBurnBytes, text_of<size_t>(burn), 0x10000);
  pctally_tru64_profil(tru64, kBurnBytes, text_of<long>(burn), 0x10000);
  burn(400'000'000);
  all_off();
  EXPECT_NEAR(static_cast<double>(sum(hpux)), 40, 20);
  EXPECT_NEAR(static_cast<double>(sum(svr4)), 40, 20);
  EXPECT_NEAR(static_cast<double>(sum(tru64)), 410, 200);
}

// Ticks from four threads all the while. After each disabling call the buffer is the caller's again:
// it is unmapped.
TEST_F(dialects_together, ten_thousand_pairs_while_four_threads_tick) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> tickers;
  for (int i = 0; i < 4; ++i)
    tickers.emplace_back([&] {
      while (!stop) {
        for (int n = 0; n < 16; ++n) tick_at(kText + 4);
        std::this_thread::yield();
      }
    });
  unsigned late = 0;
  auto* cells =
      static_cast<uint32_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (int pair = 0; pair < 10'000; ++pair) {
    pctally_hpux_prof entry{cells, 64, text(), 0x10000};
    if (pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_UINT) != 0) ++late;
    if (pctally_hpux_sprofil(nullptr, 0, nullptr, 0) != 0) ++late;
    uint32_t before = cells[1];
    if (pair % 64 == 0) std::this_thread::yield();
    if (cells[1] != before) ++late;
    cells[1] = 0;
  }
  stop = true;
  for (std::thread& ticker : tickers) ticker.join();
  munmap(cells, 4096);
  EXPECT_EQ(late, 0u);
}

TEST_F(dialects_together, pairs_under_the_clock_while_four_threads_spin) {
  use_clock();
  std::atomic<bool> stop = false;
  std::vector<std::thread> spinners;
  for (int i = 0; i < 4; ++i)
    spinners.emplace_back([&] {
      while (!stop) burn(1'000'000);
    });
  uint16_t cells[kBurnBytes / 2] = {};
  unsigned late = 0;
  for (int pair = 0; pair < 300; ++pair) {
    pctally_svr4_profil(cells, sizeof cells, text_of<size_t>(burn), 0x10000);
    if (pair % 10 == 0) burn(500'000);
    pctally_svr4_profil(nullptr, 0, 0, 0);
    uint64_t before = sum(cells);
    std::this_thread::yield();
    late += sum(cells) != before;
  }
  stop = true;
  for (std::thread& spinner : spinners) spinner.join();
  EXPECT_EQ(late, 0u);
}

// No tick falls between a call and the one that replaces it.
TEST_F(dialects_together, replacing_loses_no_tick) {
  uint64_t cells[2] = {};
  pctally_hpux_prof entries[] = {{&cells[0], 8, text(), 0x2000}, {&cells[1], 8, text(), 0x2000}};
  ASSERT_EQ(pctally_hpux_sprofil(entries, 1, nullptr, PCTALLY_HPUX_UINT64), 0);
  std::atomic<bool> stop = false;
  uint64_t delivered = 0;
  std::thread ticker([&] {
    while (!stop) tick_at(kText), ++delivered;
  });
  const int calls = getenv("PCTALLY_RUNS") != nullptr ? atoi(getenv("PCTALLY_RUNS")) : 1000;
  for (int i = 0; i < calls; ++i) {
    ASSERT_EQ(pctally_hpux_sprofil(&entries[i & 1], 1, nullptr, PCTALLY_HPUX_UINT64), 0);
    std::this_thread::yield();
  }
  stop = true;
  ticker.join();
  all_off();
  EXPECT_EQ(cells[0] + cells[1], delivered);
}

// Any arguments at all: the program lives, and nothing but the buffer changes.
TEST_F(dialects_together, two_thousand_calls_with_any_arguments) {
  std::mt19937_64 random(1);
  Fenced fence(128);
  auto any = [&](std::initializer_list<uintptr_t> values) {
    return values.begin()[random() % values.size()];
  };
  const auto good = reinterpret_cast<uintptr_t>(fence.as<char>());
  auto pointer = [&] {
    return reinterpret_cast<void*>(
        any({0, 16, good, good, good, good + 64, good + 126, good + 128, UINTPTR_MAX, good - 8192}));
  };
  auto size = [&] { return any({0, 1, 2, 3, 4, 8, 64, 64, 64, 127, 128}); };
  auto offset = [&] { return any({0, 1, kText, kText, kText + 1, kText + 63, UINTPTR_MAX - 3}); };
  auto scale = [&] {
    return static_cast<unsigned>(any({0, 1, 2, 3, 0x4000, 0xffff, 0x10000, 0x18000, 0x20000, ~0u}));
  };
  for (int i = 0; i < 2000; ++i) {
    void* base = pointer();
    auto room = static_cast<unsigned>(size());
    pctally_hpux_prof hpux[3];
    pctally_irix_prof irix[3];
    pctally_tru64_profil_args tru64[3];
    pctally_aix_prof aix[4] = {};
    for (int n = 0; n < 3; ++n) {
      hpux[n] = {base, room, reinterpret_cast<void*>(offset()), scale()};
      irix[n] = {base, room, offset(), scale()};
      tru64[n] = {static_cast<unsigned*>(base), reinterpret_cast<void*>(offset()),
                  reinterpret_cast<void*>(offset()), reinterpret_cast<void*>(offset()), scale()};
      aix[n] = {reinterpret_cast<char*>(offset()), reinterpret_cast<char*>(offset()),
                static_cast<uint16_t*>(base), static_cast<int>(room), scale()};
    }
    auto count = static_cast<int>(random() % 6) - 1;
    auto flags = static_cast<unsigned>(random() % 9);
    pctally_hpux_sprofil(count > 3 ? reinterpret_cast<pctally_hpux_prof*>(16) : hpux, count, nullptr, flags);
    pctally_irix_sprofil(irix, count > 3 ? 3 : count, static_cast<timeval*>(count == 2 ? pointer() : nullptr),
                         flags);
    pctally_svr4_profil(static_cast<uint16_t*>(base), room, offset(), scale());
    pctally_bsd_profil(static_cast<char*>(base), room, offset(), scale());
    pctally_glibc_profil(static_cast<uint16_t*>(base), room, offset(), scale());
    pctally_tru64_profil(random() % 2 != 0 ? base : tru64, std::min(count, 3), random() % 2 != 0 ? -1 : 5,
                         scale());
    pctally_aix_profil(random() % 2 != 0 ? base : aix, random() % 2 != 0 ? ~0u : room, offset(), scale());
    for (uintptr_t pc : {uintptr_t{0}, kText, kText + 63, UINTPTR_MAX}) tick_at(pc);
  }
  all_off();
  EXPECT_NE(pctally_count(text(), 1), 0) << "nothing is profiled any more";
  uint16_t cells[32] = {};
  ASSERT_EQ(pctally_bsd_profil(reinterpret_cast<char*>(cells), sizeof cells, kText, 0x10000), 0);
  tick_at(kText + 2);
  all_off();
  EXPECT_EQ(cells[1], 1) << "and a good call counts as ever";
}

volatile sig_atomic_t g_handled;

void turn_all_on() {
  static uint16_t cells[32];
  static pctally_hpux_prof entry{cells, 64, text(), 0x10000};
  pctally_hpux_sprofil(&entry, 1, nullptr, PCTALLY_HPUX_USHORT);
  pctally_irix_profil(cells, 64, kText, 0x10000);
  pctally_glibc_profil(cells, 64, kText, 0x10000);
  pctally_svr4_profil(cells, 64, kText, 0x10000);
  pctally_bsd_profil(reinterpret_cast<char*>(cells), 64, kText, 0x10000);
  pctally_tru64_profil(cells, 64, static_cast<long>(kText), 0x10000);
  pctally_aix_profil(cells, 64, kText, 0xffff);
}

void turn_on_or_off(int) {
  g_handled = g_handled + 1;
  if (g_handled % 2 != 0)
    all_off();
  else
    turn_all_on();
}

void set_timer(timer_t timer, const itimerspec& when) {
  if (timer_settime(timer, 0, &when, nullptr) != 0) abort();
}

timer_t send_to_self(int number, const itimerspec& when) {
  sigevent sent{};
  sent.sigev_notify = SIGEV_SIGNAL;
  sent.sigev_signo = number;
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &sent, &timer) != 0) abort();
  set_timer(timer, when);
  return timer;
}

/// The handler comes in the midst of calls, hundreds of times. One that waits for the call waits for ever,
/// and ends after a minute. A clock takes milliseconds to start and end, and more on a busy machine.
int call_while_a_handler_calls(int number) {
  constexpr itimerspec kMinute = {{0, 0}, {60, 0}};
  const timer_t end = send_to_self(SIGKILL, kMinute);
  signal(number, turn_on_or_off);
  const timer_t timer = send_to_self(number, {{0, 200'000}, {0, 200'000}});
  while (g_handled < 500) turn_all_on(), all_off(), set_timer(end, kMinute);
  timer_delete(timer);
  all_off();
  return pctally_count(text(), 1) == -1 ? 0 : 1;
}

// The pages' calls are system calls: a handler may make one while another is under way.
TEST_F(dialects_together, a_handler_calls_in_the_midst_of_a_call) {
  for (bool clock : {false, true}) {
    if (clock) use_clock();
    for (int number : {SIGALRM, SIGUSR1, SIGWINCH})
      EXPECT_EQ(in_child([number] { return call_while_a_handler_calls(number); }), 0)
          << (clock ? "with a clock" : "without a clock") << ", signal " << number;
  }
}

std::atomic<int> g_returned;

/// Each call opens, reads or writes a file under a lock; a thread that ended there would keep the lock.
void* call_while_cancelled(void* path) {
  pthread_cancel(pthread_self());
  turn_all_on(), ++g_returned;
  all_off(), ++g_returned;
  pctally_bsd_monstartup(kText, kText + 64), ++g_returned;
  pctally_bsd_mcleanup(), ++g_returned;  // cannot write: PROFDIR is not there
  pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = static_cast<const char*>(path);
  EXPECT_EQ(pctally_start(&options), 0) << pctally_error();
  ++g_returned;
  pctally_stop(), ++g_returned;
  pthread_testcancel();
  return nullptr;
}

int call_in_a_cancelled_thread() {
  std::string path = testing::TempDir() + "cancelled_" + std::to_string(getpid()) + ".pct";
  setenv("PROFDIR", "/nonexistent", 1);
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, call_while_cancelled, path.data());
  pthread_join(thread, &result);
  unlink(path.c_str());
  return result == PTHREAD_CANCELED ? g_returned.load() : -1;
}

// profil(2) is a system call, and no cancellation point on any system.
TEST_F(dialects_together, a_call_is_no_cancellation_point) {
  use_clock();
  EXPECT_EQ(in_child(call_in_a_cancelled_thread), 6);
}

volatile sig_atomic_t g_noted[_NSIG];

void note_signal(int signal) { g_noted[signal] = g_noted[signal] + 1; }

/// Each real-time signal is the program's: its handler runs for each that is sent.
int profile_with(void (*handler)(int)) {
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (signal != SIGCHLD) ::signal(signal, handler);
  static uint16_t cells[kBurnBytes / 2] = {};
  if (pctally_svr4_profil(cells, sizeof cells, text_of<uintptr_t>(burn), 0x10000) != 0) return 1;
  if (burn_for_ticks(cells, 5) < 5) return 2;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) {
    raise(signal);
    if (g_noted[signal] != (handler == note_signal ? 1 : 0)) return 3;
  }
  const uint64_t before = sum(cells);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (::signal(signal, SIG_IGN) != handler) return 4;
  burn_for_ticks(cells, 5);
  pctally_svr4_profil(nullptr, 0, 0, 0);
  return sum(cells) >= before + 5 ? 0 : 5;
}

TEST_F(dialects_together, a_program_that_handles_every_signal_is_profiled) {
  use_clock();
  EXPECT_EQ(in_child([] { return profile_with(note_signal); }), 0);
}

TEST_F(dialects_together, a_program_that_ignores_every_signal_is_profiled) {
  use_clock();
  EXPECT_EQ(in_child([] { return profile_with(SIG_IGN); }), 0);
}

sigjmp_buf g_back;
int* volatile g_no_memory = reinterpret_cast<int*>(24);
volatile int g_seen;

void own_handler(int, siginfo_t* info, void*) {
  g_seen = info->si_addr == reinterpret_cast<void*>(24) ? 1 : 2;
  siglongjmp(g_back, 1);
}

TEST_F(dialects_together, the_programs_own_fault_handler_still_works) {
  struct sigaction action {
  }, before{};
  action.sa_sigaction = own_handler;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  Fenced gone(64);
  pctally_svr4_profil(gone.as<uint16_t>(), 64, kText, 0x10000);
  gone.unmap();
  g_seen = 0;
  tick_at(kText);
  EXPECT_EQ(g_seen, 0) << "our fault is not shown";
  if (sigsetjmp(g_back, 1) == 0) *g_no_memory = 1;
  EXPECT_EQ(g_seen, 1) << "its own is";
  all_off();
  sigaction(SIGSEGV, &before, nullptr);
}

volatile int g_status;

void exit_at_fault(int) { _exit(g_status); }

int fault_behind_the_guard(bool by_signal) {
  Fenced gone(64);
  pctally_svr4_profil(gone.as<uint16_t>(), 64, kText, 0x10000);
  struct sigaction action {};
  action.sa_handler = exit_at_fault;
  if (by_signal)
    signal(SIGSEGV, exit_at_fault);
  else
    sigaction(SIGSEGV, &action, nullptr);
  gone.unmap();
  g_status = 1;
  tick_at(kText);
  g_status = 0;
  *g_no_memory = 1;
  return 2;
}

TEST_F(dialects_together, a_later_fault_handler_stands_behind_the_guard) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own SIGSEGV handler stands in front";
#endif
  for (bool by_signal : {false, true})
    EXPECT_EQ(in_child([&] { return fault_behind_the_guard(by_signal); }), 0)
        << "1: it got the tick's fault; 2: it did not get its own; signal(3): " << by_signal;
}

// "The entry is silently disabled", "turned off if a buff update would cause a memory fault": so it is where
// the program ignores the signals of faults, before the call or after it.
int vanish_where_ignored(int signal, bool before) {
  Fenced gone(64);
  if (before) ::signal(signal, SIG_IGN);
  pctally_svr4_profil(gone.as<uint16_t>(), 64, kText, 0x10000);
  if (!before && ::signal(signal, SIG_IGN) != SIG_DFL) return 1;
  raise(signal);
  gone.unmap();
  tick_at(kText);
  if (::signal(signal, SIG_IGN) != SIG_IGN) return 2;
  all_off();
  const char* name = signal == SIGSEGV ? "SEGV" : "BUS";
  execl("/bin/sh", "sh", "-c", "kill -s $0 $$", name, nullptr);
  return 3;
}

TEST_F(dialects_together,
       a_fault_that_the_program_ignores_stands_behind_the_guard_and_is_inherited_afterwards) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own SIGSEGV handler stands in front";
#endif
  for (int signal : {SIGSEGV, SIGBUS})
    for (bool before : {false, true})
      EXPECT_EQ(in_child([&] { return vanish_where_ignored(signal, before); }), 0) << signal << ' ' << before;
}

TEST_F(dialects_together, a_crash_is_still_a_crash) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's own SIGSEGV handler ends the process with a status, not by the signal";
#endif
  int status = in_child([] {
    uint16_t cells[2] = {};
    pctally_svr4_profil(cells, 4, kText, 0x10000);
    *g_no_memory = 1;
    return 0;
  });
  EXPECT_EQ(status, -SIGSEGV);
  status = in_child([] {
    uint16_t cells[2] = {};
    pctally_svr4_profil(cells, 4, kText, 0x10000);
    raise(SIGSEGV);
    return 0;
  });
  EXPECT_EQ(status, -SIGSEGV);
}

}  // namespace
}  // namespace pctally::manual
