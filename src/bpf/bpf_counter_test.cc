#include "bpf/bpf_counter.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <tuple>

#include "base/kernel/cpu_time_for_test.h"
#include "base/kernel/perf_event.h"

namespace pctally {
namespace {

constexpr uint64_t kPeriodNs = 100000;

/// Says why this machine cannot load it.
#define SKIP_WHERE_REFUSED(loaded)                                          \
  if (const int code = (loaded) ? 0 : (loaded).error().code;                \
      code == EPERM || code == EACCES || code == ENOSYS)                    \
    GTEST_SKIP() << "BPF is not permitted here: " << (loaded).error().text; \
  ASSERT_TRUE(loaded) << (loaded).error().text

/// On one CPU, if there is such; -1: on any.
void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (cpu < 0 || i == cpu) CPU_SET(i, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

/// Interrupts that CPU every 20 us, as long as it is there.
UniqueFd interrupter(int cpu) {
  perf_event_attr attr = tick_attributes(kCpuTime, 20000, true);
  attr.disabled = 0;
  return open_perf_event(attr, -1, cpu);
}

/// Touches so many fresh pages, and again.
void fault_pages(size_t rounds, size_t pages) {
  auto page = static_cast<size_t>(getpagesize());
  void* memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, pages * page, MADV_NOHUGEPAGE);
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * page] = 1;
    madvise(memory, pages * page, MADV_DONTNEED);
  }
}

/// What was handed out.
struct Ticks {
  std::map<pid_t, uint64_t> by_process;
  std::set<unsigned> exec_ids;
  uint64_t slots = 0, full = 0;

  void take(BpfCounter* counter) {
    counter->drain(
        [this](const pctally_slot& slot) {
          EXPECT_GT(slot.ticks, 0u);
          EXPECT_GT(slot.first_ns, 0u);
          by_process[static_cast<pid_t>(slot.tgid)] += slot.ticks;
          if (slot.tgid == static_cast<unsigned>(getpid())) exec_ids.insert(slot.exec_id);
          slots += slot.ticks;
        },
        [this](const pctally_full& place) {
          by_process[static_cast<pid_t>(place.tgid)] += place.ticks;
          full += place.ticks;
        });
  }
};

void expect_exact(const BpfCounter& counter, const Ticks& ticks) {
  const BpfCounter::Totals& totals = counter.totals();
  EXPECT_EQ(totals.passed, totals.slots + totals.full + totals.unowned);
  EXPECT_EQ(totals.slots, ticks.slots);
  EXPECT_EQ(totals.full, ticks.full);
}

/// Slots handed out after `ms` of spinning at a few pcs, and their ticks.
std::pair<uint64_t, uint64_t> slots_and_ticks(BpfCounter* counter, int ms) {
  uint64_t slots = 0, ticks = 0;
  auto own = [&](const pctally_slot& slot) {
    EXPECT_GE(slot.last_ns, slot.first_ns);
    if (static_cast<int64_t>(slot.pc) < 0) return;
    ++slots;
    ticks += slot.ticks;
  };
  counter->drain([](const pctally_slot&) {}, [](const pctally_full&) {});
  burn(static_cast<uint64_t>(ms) * 1000000);
  counter->drain(own, [](const pctally_full&) { ADD_FAILURE() << "no room"; });
  return {slots, ticks};
}

void await(pid_t child) { EXPECT_EQ(waitpid(child, nullptr, 0), child); }

TEST(BpfCounter, TicksComeOneByOneIfAskedFor) {
  BpfCounter::Settings settings;
  settings.filter = PCTALLY_FILTER_FOLLOWED;  // others' ticks would take slots, too
  settings.period = kPeriodNs;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  Random random(1);
  counter->follow(getpid());
  ASSERT_TRUE(counter->enable(&random));
  auto [slots, ticks] = slots_and_ticks(&*counter, 50);
  EXPECT_GT(ticks, 4 * slots);
  const uint64_t together = ticks;
  counter->separate_ticks(true);
  std::tie(slots, ticks) = slots_and_ticks(&*counter, 50);
  EXPECT_GT(ticks, together / 4);
  EXPECT_EQ(ticks, slots);
  counter->separate_ticks(false);
  std::tie(slots, ticks) = slots_and_ticks(&*counter, 50);
  EXPECT_GT(ticks, 4 * slots);
  counter->disable();
}

// Every run of the program is one tick handed out, by the kernel's own count of the runs, while two processes
// keep both tables turning over.
TEST(BpfCounter, HandsOutEveryRunOfTheProgramOnce) {
  BpfCounter::Settings settings;
  settings.period = kPeriodNs;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  UniqueFd statistics(bpf_enable_stats(BPF_STATS_RUN_TIME));
  ASSERT_TRUE(statistics.valid());
  pid_t other = fork();
  if (other == 0) burn(300000000), _exit(0);
  Random random(1);
  Ticks ticks;
  ASSERT_TRUE(counter->enable(&random));
  constexpr uint64_t kTurns = 200;
  for (uint64_t i = 0; i < kTurns; ++i) {
    burn(1000000);
    ticks.take(&*counter);
  }
  await(other);
  counter->disable();
  ticks.take(&*counter);
  expect_exact(*counter, ticks);
  EXPECT_GT(counter->totals().passed, kTurns) << "the tables turned over while ticks came";
  EXPECT_EQ(counter->totals().passed, counter->runs().runs);
}

// In older kernels a page fault runs the program where it can be interrupted, and by the recorder while
// another interrupt keeps it from its end: not one fault may be lost between the tables.
TEST(BpfCounter, HandsOutEveryPageFaultOnce) {
  constexpr size_t kPages = 500;
  BpfCounter::Settings settings;
  settings.event = *find_event("page-faults");
  settings.period = 1;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  struct Shared {
    std::atomic<bool> enough;
    size_t rounds;
  };
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = static_cast<Shared*>(memory);
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  pid_t child = fork();
  if (child == 0) {
    char go;
    if (read(held[0], &go, 1) != 1) _exit(1);
    stay_on(1);
    for (; !shared->enough; ++shared->rounds) fault_pages(1, kPages);
    _exit(0);
  }
  ASSERT_TRUE(counter->follow(child));
  Random random(1);
  ASSERT_TRUE(counter->enable(&random));
  stay_on(0);
  UniqueFd interrupts = interrupter(1);
  ASSERT_EQ(write(held[1], "g", 1), 1);
  Ticks ticks;
  uint64_t turns = 0;
  for (; waitpid(child, nullptr, WNOHANG) == 0; ++turns) {
    ticks.take(&*counter);
    shared->enough = turns >= 30 && ticks.full + ticks.slots >= 5 * kPages;
  }
  stay_on(-1);
  counter->disable();
  ticks.take(&*counter);
  expect_exact(*counter, ticks);
  EXPECT_EQ(ticks.by_process.size(), 1u);
  EXPECT_GE(ticks.by_process[child], shared->rounds * kPages);
  EXPECT_LE(ticks.by_process[child],
            shared->rounds * kPages + shared->rounds + 500);  // its own pages, copied on write
  munmap(memory, sizeof(Shared));
  close(held[0]), close(held[1]);
}

TEST(BpfCounter, FollowsChildrenOfChildrenAndNobodyElse) {
  BpfCounter::Settings settings;
  settings.period = kPeriodNs;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  pid_t other = fork();
  if (other == 0) burn(100000000), _exit(0);
  pid_t root = fork();
  if (root == 0) {
    char go;
    if (read(held[0], &go, 1) != 1) _exit(1);
    pid_t child = fork();
    if (child == 0) {
      pid_t grandchild = fork();
      if (grandchild == 0) burn(500000000), _exit(0);  // beside it forks take little
      waitpid(grandchild, nullptr, 0);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    _exit(0);
  }
  ASSERT_TRUE(counter->follow(root));
  Random random(1);
  ASSERT_TRUE(counter->enable(&random));
  ASSERT_EQ(write(held[1], "g", 1), 1);
  await(root);
  await(other);
  counter->disable();
  Ticks ticks;
  ticks.take(&*counter);
  expect_exact(*counter, ticks);
  uint64_t most = 0;
  for (const auto& [pid, count] : ticks.by_process) most = std::max(most, count);
  EXPECT_EQ(ticks.by_process.count(other), 0u);
  EXPECT_EQ(ticks.by_process.count(getpid()), 0u);
  EXPECT_GT(10 * most, 8 * counter->totals().passed) << "nearly all are the grandchild's";
  close(held[0]), close(held[1]);
}

TEST(BpfCounter, ProcessNumbersUsedAgainStartUnfollowed) {
  BpfCounter::Settings settings;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  EXPECT_FALSE(counter->follow(0));
  EXPECT_FALSE(counter->follow(-1));
  EXPECT_FALSE(counter->follow(INT32_MAX));
  for (pid_t pid = 2; pid < 32768; ++pid)  // as if everything had been followed once
    if (pid != getpid()) counter->follow(pid);
  Random random(1);
  ASSERT_TRUE(counter->enable(&random));
  pid_t child = fork();
  if (child == 0) burn(50000000), _exit(0);
  await(child);
  counter->disable();
  Ticks ticks;
  ticks.take(&*counter);
  EXPECT_EQ(ticks.by_process.count(child), 0u);
}

#if defined(__x86_64__) || defined(__aarch64__)
/// Code of half a million addresses or more, executed in turn.
void walk_over_text(unsigned char* text, size_t bytes) {
#if defined(__x86_64__)
  for (size_t at = 0; at + 2 < bytes; at += 2) text[at] = 0x66, text[at + 1] = 0x90;  // a nop of two bytes
  text[bytes - 2] = text[bytes - 1] = 0xc3;  // no 66 before the return: on AMD that makes it one of 16 bits
#else
  constexpr uint32_t kNop = 0xd503201f, kReturn = 0xd65f03c0;
  std::fill_n(reinterpret_cast<uint32_t*>(text), bytes / 4 - 1, kNop);
  reinterpret_cast<uint32_t*>(text)[bytes / 4 - 1] = kReturn;
  __builtin___clear_cache(reinterpret_cast<char*>(text), reinterpret_cast<char*>(text + bytes));
#endif
  auto walk = reinterpret_cast<void (*)()>(text);
  for (uint64_t end = process_cpu_ns() + 400000000; process_cpu_ns() < end;) walk();
}

// Far more distinct pcs than slots: nothing is lost, it is booked as full under its process, and the maps
// stay the size they are.
TEST(BpfCounter, MillionPcsInSmallTablesAreAllAccountedFor) {
  BpfCounter::Settings settings;
  settings.period = 50000;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  settings.table_slots = 64;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  constexpr size_t kBytes = 2 << 20;
  void* text = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(text, MAP_FAILED);
  ASSERT_TRUE(counter->follow(getpid()));
  Random random(1);
  ASSERT_TRUE(counter->enable(&random));
  walk_over_text(static_cast<unsigned char*>(text), kBytes);
  counter->disable();
  Ticks ticks;
  ticks.take(&*counter);
  expect_exact(*counter, ticks);
  EXPECT_GT(ticks.full, ticks.slots);
  EXPECT_EQ(counter->totals().unowned, 0u);
  EXPECT_EQ(ticks.by_process.size(), 1u);
  EXPECT_EQ(ticks.by_process[getpid()], counter->totals().passed);
  munmap(text, kBytes);
}
#endif

TEST(BpfCounter, ExecIsAnotherImage) {
  BpfCounter::Settings settings;
  settings.period = kPeriodNs;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  pid_t child = fork();
  if (child == 0) {
    counter->follow(getpid());
    Random random(1);
    if (!counter->enable(&random)) _exit(1);
    burn(50000000);
    execl("/bin/sh", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", nullptr);
    _exit(1);
  }
  await(child);
  std::set<unsigned> images;
  counter->drain([&](const pctally_slot& slot) { images.insert(slot.exec_id); }, [](const pctally_full&) {});
  EXPECT_EQ(images.size(), 2u);
}

std::set<uint32_t> ids(int (*next)(uint32_t, uint32_t*)) {
  std::set<uint32_t> all;
  for (uint32_t id = 0; next(id, &id) == 0;) all.insert(id);
  return all;
}

// What a killed recorder leaves in the kernel: nothing. (The kernel frees maps some time after.)
TEST(BpfCounter, KilledProcessLeavesNoProgramAndNoMap) {
  BpfCounter::Settings settings;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  std::set<uint32_t> programs = ids(bpf_prog_get_next_id), maps = ids(bpf_map_get_next_id);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    auto counter = BpfCounter::load(settings);
    Random random(1);
    bool runs = counter && counter->enable(&random);
    if (write(ready[1], runs ? "y" : "n", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  std::set<uint32_t> added;
  for (uint32_t id : ids(bpf_map_get_next_id))
    if (maps.count(id) == 0) added.insert(id);
  kill(child, SIGKILL);
  await(child);
  close(ready[0]), close(ready[1]);
  if (answer == 'n') GTEST_SKIP() << "BPF is not permitted here";
  EXPECT_GE(added.size(), 4u);
  for (bool gone = false; !gone; usleep(20000)) {  // no event says so; the test program's time limit ends it
    gone = true;
    for (uint32_t id : ids(bpf_map_get_next_id)) gone = gone && added.count(id) == 0;
  }
}

TEST(BpfCounter, CgroupCountsItsOwn) {
  std::string root = access("/sys/fs/cgroup/cgroup.procs", F_OK) == 0 &&
                             access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0
                         ? "/sys/fs/cgroup"
                         : "/sys/fs/cgroup/unified";
  std::string directory = root + "/pctally-test-" + std::to_string(getpid());
  if (mkdir(directory.c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup v2 to be written at " << root;
  UniqueFd cgroup(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  BpfCounter::Settings settings;
  settings.period = kPeriodNs;
  settings.filter = PCTALLY_FILTER_CGROUP;
  settings.cgroup = cgroup.get();
  auto counter = BpfCounter::load(settings);
  if (!counter) rmdir(directory.c_str());
  ASSERT_TRUE(counter) << counter.error().text;
  Random random(1);
  ASSERT_TRUE(counter->enable(&random));
  int said[2];
  ASSERT_EQ(pipe(said), 0);
  pid_t inside = fork();
  if (inside == 0) {
    UniqueFd members(open((directory + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (write(members.get(), "0", 1) != 1) _exit(1);
    const uint64_t held = burn(100000000);
    _exit(write(said[1], &held, sizeof held) == sizeof held ? 0 : 1);
  }
  close(said[1]);
  burn(50000000);
  rusage used{};
  EXPECT_EQ(wait4(inside, nullptr, 0, &used), inside);
  counter->disable();
  Ticks ticks;
  ticks.take(&*counter);
  expect_exact(*counter, ticks);
  EXPECT_EQ(ticks.by_process.size(), 1u);
  const auto cpu_ns = 1000 * (1000000 * (used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                              used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  uint64_t held = 0;
  EXPECT_EQ(read(said[0], &held, sizeof held), static_cast<ssize_t>(sizeof held));
  close(said[0]);
  EXPECT_GT(ticks.by_process[inside] * kPeriodNs + held / 2, static_cast<uint64_t>(cpu_ns) / 2);
  rmdir(directory.c_str());
}

#if PCTALLY_FOLLOWS_PATHS
bool is_woken(const BpfCounter& counter) {
  pollfd watched{counter.paths()->ring().fd(), POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

TEST(BpfCounter, TicksComeWithTheirStacks) {
  BpfCounter::Settings settings;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  settings.period = kPeriodNs;
  settings.paths = true;
  auto counter = BpfCounter::load(settings);
  SKIP_WHERE_REFUSED(counter);
  Random random(1);
  counter->follow(getpid());
  ASSERT_TRUE(counter->enable(&random));
  burn(30000000);
  counter->disable();
  counter->drain([](const pctally_slot&) { ADD_FAILURE() << "no room"; }, [](const pctally_full&) {});
  EXPECT_FALSE(is_woken(*counter)) << "the ring is not half full";
  const auto here = reinterpret_cast<uint64_t>(&random);
  uint64_t with_stack = 0;
  counter->visit_paths([&](const pctally_path& path) {
    EXPECT_EQ(path.tgid, static_cast<unsigned>(getpid()));
    EXPECT_EQ(path.flags & PCTALLY_PATH_REGISTERS, PCTALLY_PATH_REGISTERS + 0u);
    EXPECT_TRUE(path.flags & PCTALLY_PATH_UNKNOWN) << "nothing was said of this process";
    if (path.stack_address <= here && here - path.stack_address < path.stack_bytes) ++with_stack;
  });
  counter->release_paths();
  EXPECT_EQ(counter->totals().paths, counter->totals().passed);
  EXPECT_GT(counter->totals().paths, 100u);
  EXPECT_EQ(with_stack, counter->totals().paths);
}

/// Uses CPU time below so many bytes of stack.
[[gnu::noinline]] void burn_below(size_t bytes, uint64_t ns) {
  auto* stack = static_cast<volatile char*>(__builtin_alloca(bytes + 1));
  stack[bytes] = 0;
  burn(ns);
  stack[0] = stack[bytes];
}

/// Ticks that are in the ring without their stacks, of a recorder that does not come.
uint64_t ticks_without_stack(size_t deeper) {
  BpfCounter::Settings settings;
  settings.filter = PCTALLY_FILTER_FOLLOWED;
  settings.period = kPeriodNs;
  settings.paths = true;
  settings.path_bytes = 64 << 10;
  auto counter = BpfCounter::load(settings);
  if (!counter) return 0;
  Random random(1);
  counter->follow(getpid());
  EXPECT_TRUE(counter->enable(&random));
  burn_below(deeper, 100000000);
  counter->disable();
  EXPECT_TRUE(is_woken(*counter));
  uint64_t slots = 0, without_stack = 0;
  counter->drain([&](const pctally_slot& slot) { slots += slot.ticks; }, [](const pctally_full&) {});
  counter->visit_paths([&](const pctally_path& path) {
    without_stack += (path.flags & PCTALLY_PATH_NO_ROOM) != 0 && path.stack_bytes == 0 ? 1 : 0;
  });
  EXPECT_FALSE(is_woken(*counter));
  EXPECT_GT(counter->totals().slots, 0u);
  EXPECT_EQ(counter->totals().paths + counter->totals().slots, counter->totals().passed);
  return without_stack;
}

// A recorder that does not come: some ticks have no whole stack, then no stack, and all are there. Where the
// stacks fill the ring to the last bytes none is without: then others, that are a little deeper, do not.
TEST(BpfCounter, TicksWithoutRoomForTheirStacksAreInTheTables) {
  const auto loaded = BpfCounter::load({});
  SKIP_WHERE_REFUSED(loaded);
  uint64_t without_stack = 0;
  for (size_t deeper = 0; deeper < 1000 && without_stack == 0; deeper += 112)
    without_stack = ticks_without_stack(deeper);
  EXPECT_GT(without_stack, 0u);
}
#endif

}  // namespace
}  // namespace pctally
