// The tick in several processes on one shared pool, and in processes that are killed. No test here is
// statistical: a right tick never fails it. The kills only have to be many for a wrong one to be found.
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include <random>
#include <vector>

#include "tick/guarded_pool_for_test.h"
#include "tick/tick.h"

namespace pctally {
namespace {

constexpr uint64_t kSharedTextBytes = 64 << 10;

struct SharedProfile {
  GuardedPool pool{600, 600};
  Region region{};
  RegionTable table{};

  SharedProfile() {
    region.last = kSharedTextBytes - 1;
    region.rule.cells = kSharedTextBytes;
    region.rule.family = PCTALLY_BIN_SHIFT;
    region.kind = CellKind::kTree;
    region.directory = pool.directory(kSharedTextBytes);
    seal_regions(&region, 1);
    table.regions = &region;
    table.count = 1;
    table.pool = pool.pool();
    table.ledger = &pool.ledger();
  }
  [[nodiscard]] uint64_t cells() const { return pool.sum(region.directory, kSharedTextBytes); }
};

/// Runs `work` in a child that ends without running anything else of this program.
template <class Work>
pid_t in_child(Work work) {
  pid_t pid = fork();
  if (pid != 0) return pid;
  work();
  _exit(0);
}

int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(Processes, ShareCellsExactly) {
  constexpr uint64_t kTicks = 500'000;
  for (uint64_t processes : {2, 3, 4}) {
    SharedProfile profile;
    std::vector<pid_t> children;
    for (uint64_t i = 0; i < processes; ++i)
      children.push_back(in_child([&] {
        std::mt19937_64 random(i / 2);
        for (uint64_t n = 0; n < kTicks; ++n)
          tick(profile.table, n < 10'000 ? random() % kSharedTextBytes : n % 64, 1 + n % 3);
      }));
    for (pid_t child : children) EXPECT_EQ(wait_for(child), 0);
    uint64_t total = 0;
    for (uint64_t n = 0; n < kTicks; ++n) total += processes * (1 + n % 3);
    EXPECT_EQ(profile.pool.ledger().counted, total);
    EXPECT_EQ(profile.cells(), total);
    EXPECT_EQ(profile.pool.ledger().samples, processes * kTicks);
  }
}

void sleep_us(long us) {
  timespec time{0, us * 1000};
  nanosleep(&time, nullptr);
}

// A cell is raised before it is booked, so the killed leave at most one tick each that is in a cell and
// in no book.
TEST(Processes, TheKilledLeaveAtMostOneTickEach) {
  constexpr uint64_t kWeight = 5;
  std::mt19937_64 random(1);
  uint64_t unbooked = 0;
  for (int round = 0; round < 40; ++round) {
    SharedProfile profile;
    std::vector<pid_t> children;
    for (uint64_t i = 0; i < 3; ++i)
      children.push_back(in_child([&] {
        for (uint64_t n = i * 1000;; ++n) tick(profile.table, n * 17 % kSharedTextBytes, kWeight);
      }));
    sleep_us(static_cast<long>(500 + random() % 3000));
    for (pid_t child : children) {
      sleep_us(static_cast<long>(random() % 1000));
      kill(child, SIGKILL);
    }
    for (pid_t child : children) EXPECT_EQ(WTERMSIG(wait_for(child)), SIGKILL);
    const Ledger& ledger = profile.pool.ledger();
    uint64_t cells = profile.cells();
    ASSERT_LE(ledger.counted, cells);
    ASSERT_LE(cells, ledger.counted + children.size() * kWeight);
    ASSERT_LE(cells, ledger.samples * kWeight);
    ASSERT_EQ(ledger.full, 0u);
    unbooked += cells - ledger.counted;

    uint64_t before = ledger.counted;  // and the pool goes on
    for (uint64_t pc = 0; pc < kSharedTextBytes; pc += 3)
      EXPECT_EQ(tick(profile.table, pc, 1), TickOutcome::kCounted);
    EXPECT_EQ(profile.cells() - cells, ledger.counted - before);
  }
  RecordProperty("ticks_left_unbooked", std::to_string(unbooked));
}

}  // namespace
}  // namespace pctally
