// fork(2) and exec(2) with BSD's, IRIX's and glibc's calls, whose pages do not tell of them: as in
// all the family.
#include <sys/wait.h>

#include "pctally/bsd.h"
#include "pctally/glibc.h"
#include "pctally/irix.h"
#include "tests/manual/page_test.h"

namespace pctally::manual {
namespace {

constexpr size_t kCells = kBurnBytes / 2;
constexpr uint64_t kBurnNs = 100'000'000;  ///< ten ticks
constexpr uint64_t kLeastTicks = 5;        ///< where it is on

struct Dialect {
  const char* name;
  int (*on)(uint16_t* cells, size_t bytes, uintptr_t offset);
  int (*off)();
};
void PrintTo(const Dialect& dialect, std::ostream* out) { *out << dialect.name; }

int bsd_on(uint16_t* cells, size_t bytes, uintptr_t offset) {
  return pctally_bsd_profil(reinterpret_cast<char*>(cells), bytes, offset, 65536);
}
int bsd_off() { return pctally_bsd_profil(nullptr, 0, 0, 0); }

int irix_on(uint16_t* cells, size_t bytes, uintptr_t offset) {
  pctally_irix_prof prof{cells, static_cast<unsigned>(bytes), offset, 0x10000};
  return pctally_irix_sprofil(&prof, 1, nullptr, PCTALLY_IRIX_USHORT);
}
int irix_off() { return pctally_irix_sprofil(nullptr, 0, nullptr, PCTALLY_IRIX_USHORT); }

int glibc_on(uint16_t* cells, size_t bytes, uintptr_t offset) {
  return pctally_glibc_profil(cells, bytes, offset, 0x10000);
}
int glibc_off() { return pctally_glibc_profil(nullptr, 0, 0, 0); }

int glibc_sprofil_on(uint16_t* cells, size_t bytes, uintptr_t offset) {
  pctally_glibc_prof prof{cells, bytes, offset, 0x10000};
  return pctally_glibc_sprofil(&prof, 1, nullptr, PCTALLY_GLIBC_USHORT);
}
int glibc_sprofil_off() { return pctally_glibc_sprofil(nullptr, 0, nullptr, PCTALLY_GLIBC_USHORT); }

class fork_exec : public testing::TestWithParam<Dialect> {
 protected:
  void SetUp() override {
    unsetenv("PCTALLY_ENGINE");
    ASSERT_EQ(GetParam().on(cells_, sizeof cells_, text_of<uintptr_t>(burn)), 0);
  }
  void TearDown() override { EXPECT_EQ(GetParam().off(), 0); }

  bool ticks() { return burn_for_ticks(cells_, kLeastTicks) >= kLeastTicks; }

  uint16_t cells_[kCells] = {};
};

TEST_P(fork_exec, fork_leaves_it_on_in_both) {
  EXPECT_EQ(in_child([&] { return ticks() ? 0 : 1; }), 0);
  EXPECT_TRUE(ticks());
}

TEST_P(fork_exec, a_grandchild_has_it_on) {
  EXPECT_EQ(in_child([&] { return in_child([&] { return ticks() ? 0 : 1; }); }), 0);
}

TEST_P(fork_exec, counts_of_the_child_are_its_own) {
  burn(kBurnNs);
  uint64_t before = sum(cells_);
  EXPECT_EQ(in_child([&] { return ticks() ? 0 : 1; }), 0);
  EXPECT_LE(sum(cells_), before + 2) << "waiting is no CPU time";
}

TEST_P(fork_exec, the_child_turns_off_for_itself) {
  EXPECT_EQ(in_child([&] {
              if (GetParam().off() != 0) return 2;
              const uint64_t before = sum(cells_);
              burn(kBurnNs);
              return sum(cells_) == before ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(ticks());
}

TEST_P(fork_exec, exec_turns_it_off) {
  EXPECT_EQ(in_child([&] {
              execl("/bin/sh", "sh", "-c",
                    "grep -q . /proc/$$/timers && exit 3; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done",
                    nullptr);
              return 2;
            }),
            0)
      << "dead of a signal, or with a timer left";
}

TEST_P(fork_exec, a_chain_of_execs_lives) {
  EXPECT_EQ(in_child([&] {
              execl("/bin/sh", "sh", "-c",
                    "n=${1:-50}; [ $n -eq 0 ] || exec env nice -n 0 sh -c \"$0\" \"$0\" $((n-1))",
                    "n=${1:-50}; [ $n -eq 0 ] || exec env nice -n 0 sh -c \"$0\" \"$0\" $((n-1))", nullptr);
              return 2;
            }),
            0);
}

TEST_P(fork_exec, the_parent_of_a_vfork_counts_on) {
  pid_t child = vfork();  // NOLINT(bugprone-unsafe-functions): it is what is tested
  if (child == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(2);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(ticks());
}

INSTANTIATE_TEST_SUITE_P(dialects, fork_exec,
                         testing::Values(Dialect{"bsd", bsd_on, bsd_off}, Dialect{"irix", irix_on, irix_off},
                                         Dialect{"glibc", glibc_on, glibc_off},
                                         Dialect{"glibc_sprofil", glibc_sprofil_on, glibc_sprofil_off}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace pctally::manual
