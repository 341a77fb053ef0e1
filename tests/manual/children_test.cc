// Children that no handler of fork(2) sees: that of vfork(2), which runs in its parent's memory, and that of
// _Fork(3) or the bare clone(2), which has a copy. Each page says that profiling ends with exec(2) or by a
// call of the process's own: no child ends its parent's.
#include <signal.h>
#include <sys/syscall.h>

#include "pctally/aix.h"
#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/hpux.h"
#include "pctally/irix.h"
#include "pctally/svr4.h"
#include "pctally/tru64.h"
#include "tests/manual/n64_page.h"

namespace pctally::manual {
namespace {

constexpr size_t kNarrow = kBurnBytes / 2;
constexpr uint64_t kEnough = 5;
uint16_t g_narrow[kNarrow] = {};
uint32_t g_wide[kBurnBytes / 4] = {};

uint64_t all_ticks() { return sum(g_narrow) + sum(g_wide); }

struct OneSystem {
  const char* name;
  void (*on)();
  void (*off)();
  uint64_t period_ns = 10'000'000;
};
void PrintTo(const OneSystem& system, std::ostream* out) { *out << system.name; }

void turn_on_svr4() { pctally_svr4_profil(g_narrow, sizeof g_narrow, text_of<uintptr_t>(burn), 0x10000); }
void turn_off_svr4() { pctally_svr4_profil(nullptr, 0, 0, 0); }
void turn_on_bsd() {
  pctally_bsd_profil(reinterpret_cast<char*>(g_narrow), sizeof g_narrow, text_of<uintptr_t>(burn), 0x10000);
}
void turn_off_bsd() { pctally_bsd_profil(nullptr, 0, 0, 0); }
void turn_on_hpux() {
  pctally_hpux_prof prof{g_narrow, sizeof g_narrow, text_of<char*>(burn), 0x10000};
  pctally_hpux_sprofil(&prof, 1, nullptr, PCTALLY_HPUX_USHORT);
}
void turn_off_hpux() { pctally_hpux_sprofil(nullptr, 0, nullptr, 0); }
void turn_on_irix() {
  pctally_irix_prof prof{g_narrow, sizeof g_narrow, text_of<uintptr_t>(burn), 0x10000};
  pctally_irix_sprofil(&prof, 1, nullptr, PCTALLY_IRIX_USHORT);
}
void turn_off_irix() { pctally_irix_sprofil(nullptr, 0, nullptr, 0); }
void turn_on_glibc() { pctally_glibc_profil(g_narrow, sizeof g_narrow, text_of<uintptr_t>(burn), 0x10000); }
void turn_off_glibc() { pctally_glibc_profil(nullptr, 0, 0, 0); }
void turn_on_aix() { pctally_aix_profil(g_narrow, sizeof g_narrow, text_of<uintptr_t>(burn), 0xffff); }
void turn_off_aix() { pctally_aix_profil(nullptr, 2, 0, 0); }
void turn_on_tru64() {
  char* low = text_of<char*>(burn);
  pctally_tru64_profil_args range{g_wide, low + kBurnBytes, low, low, 0x10000};
  pctally_tru64_profil(&range, 1, -1, 0);
}
void turn_off_tru64() { pctally_tru64_profil(nullptr, 0, 0, 0); }
void turn_on_n64() {
  static bool on = false;  // a second call while it is on is an error, which the page has printed
  if (on) return;
  on = true;
  OSProf segment{g_narrow, kBurnBytes / 4, text_of<u32*>(burn), text_of<u32*>(burn) + kBurnBytes / 4};
  osProfileInit(&segment, 1);
  osProfileStart(10000);
}
void turn_off_n64() { osProfileStop(); }

/// Each in a process of its own, where `turns_off` runs in children.
class children_without_handlers : public testing::TestWithParam<OneSystem> {
 protected:
  static void SetUpTestSuite() { unsetenv("PCTALLY_ENGINE"); }

  static bool counts() {
    const uint64_t before = all_ticks();
    for (int slice = 0; slice < 150 && all_ticks() < before + kEnough; ++slice) burn(20'000'000);
    return all_ticks() >= before + kEnough;
  }
  /// No more ticks than the period has.
  static bool counts_once() {
    const uint64_t before = all_ticks(), start = thread_cpu_ns();
    burn(200'000'000);
    return all_ticks() - before <= 3 * (thread_cpu_ns() - start) / (2 * GetParam().period_ns) + 3;
  }
  static bool waited_for(pid_t child) {
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
  }
};

/// _Fork(3) without the name, which is young.
pid_t bare_clone() { return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0)); }

/// Not by qemu-user.
bool memory_is_cleared_in_children() {
  const size_t page = 4096;
  auto* memory =
      static_cast<char*>(mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  *memory = 1;
  if (madvise(memory, page, MADV_WIPEONFORK) != 0) return munmap(memory, page), false;
  const bool cleared = in_child([&] { return *memory; }) == 0;
  munmap(memory, page);
  return cleared;
}

/// In the child of a vfork(2), which ends then; false if it fails.
[[gnu::noinline]] bool in_lent_memory(void (*call)()) {
  const pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): it is what is tested
  if (child == 0) {
    call();
    execl("/bin/true", "true", nullptr);
    _exit(2);
  }
  int status = -1;
  return waitpid(child, &status, 0) == child && status == 0;
}

TEST_P(children_without_handlers, one_of_vfork_ends_nothing_of_its_parents) {
  int status = in_child([] {
    for (int round = 0; round < 2; ++round) {
      GetParam().on();
      if (!counts()) return 1;
      if (!counts_once()) return 2;
      if (!in_lent_memory(GetParam().off)) return 3;
      if (!counts()) return 4;
    }
    GetParam().off();
    const uint64_t after = all_ticks();
    burn(100'000'000);
    return all_ticks() == after ? 0 : 5;
  });
  EXPECT_EQ(status, 0) << "1, 4: it counts nothing; 2: each tick several times; 5: it cannot be turned off";
}

TEST_P(children_without_handlers, one_of_vfork_that_turns_on_changes_nothing) {
  int status = in_child([] {
    if (!in_lent_memory(GetParam().on)) return 3;
    if (GetParam().off == turn_off_n64) return 0;  // the test's own note says that it is on
    GetParam().on();
    return counts() && counts_once() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST_P(children_without_handlers, one_of_the_bare_clone_turns_off_for_itself) {
  if (!memory_is_cleared_in_children())
    GTEST_SKIP() << "no memory is cleared in children here: one of _Fork looks like one of vfork";
  int status = in_child([] {
    GetParam().on();
    if (!counts()) return 1;
    const pid_t child = bare_clone();
    if (child == 0) {
      GetParam().off();
      const uint64_t before = all_ticks();
      burn(100'000'000);
      _exit(all_ticks() == before ? 0 : 1);
    }
    if (!waited_for(child)) return 3;
    return counts() ? 0 : 4;
  });
  EXPECT_EQ(status, 0) << "3: it counts on in the child; 4: nothing is counted in the parent";
}

TEST_P(children_without_handlers, one_of_the_bare_clone_counts_after_a_call) {
  if (!memory_is_cleared_in_children())
    GTEST_SKIP() << "no memory is cleared in children here: one of _Fork looks like one of vfork";
  int status = in_child([] {
    GetParam().on();
    const pid_t child = bare_clone();
    if (child == 0) {
      if (GetParam().off == turn_off_n64) osProfileStart(10000);  // an error: it is on
      GetParam().on();
      _exit(counts() && counts_once() ? 0 : 1);
    }
    if (!waited_for(child)) return 3;
    return counts() ? 0 : 4;
  });
  EXPECT_EQ(status, 0) << "3: nothing, or too much, is counted in the child; 4: nothing in the parent";
}

INSTANTIATE_TEST_SUITE_P(dialects, children_without_handlers,
                         testing::Values(OneSystem{"svr4", turn_on_svr4, turn_off_svr4},
                                         OneSystem{"bsd", turn_on_bsd, turn_off_bsd},
                                         OneSystem{"hpux", turn_on_hpux, turn_off_hpux},
                                         OneSystem{"irix", turn_on_irix, turn_off_irix},
                                         OneSystem{"glibc", turn_on_glibc, turn_off_glibc},
                                         OneSystem{"aix", turn_on_aix, turn_off_aix},
                                         OneSystem{"tru64", turn_on_tru64, turn_off_tru64, 976'562},
                                         OneSystem{"n64", turn_on_n64, turn_off_n64}),
                         [](const auto& each) { return std::string(each.param.name); });

void init_narrow() {
  OSProf segment{g_narrow, 53, code(kStart), code(kEnd)};
  osProfileInit(&segment, 1);
}

// "osProfileInit ... clears": not the counters of the process that has lent its memory.
TEST(children_of_vfork, osprofileinit_clears_no_counter_of_the_parent) {
  setenv("PCTALLY_ENGINE", "manual", 1);
  int status = in_child([] {
    init_narrow();
    osProfileStart(10000);
    tick_at(kStart);
    osProfileStop();
    in_lent_memory(init_narrow);
    return g_narrow[0] == 1 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace pctally::manual
