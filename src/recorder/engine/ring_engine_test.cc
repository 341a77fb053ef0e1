#include "recorder/engine/ring_engine.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/kernel/cpu_time_for_test.h"
#include "histfile/call_paths.h"
#include "histfile/chain.h"
#include "histfile/fresh_file_for_test.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

TEST(EventName, EveryOneFitsIntoTheFilesHeader) {
  for (const std::string& name : event_names()) EXPECT_LT(name.size(), sizeof FileHeader::event) << name;
}

/// The kernel tells what a ring lost with the ring's next record: on another CPU there may be none.
void stay_on_this_cpu() {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof here, &here);
}

// A recorder that comes too late for its rings: what they had no room for is lost and not unsampled, whether
// the kernel counts it (from Linux 6.0 on) or tells it in a record as soon as there is room again.
TEST(RingEngine, WhatARingHasNoRoomForIsLost) {
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  stay_on_this_cpu();
  for (bool counted : {true, false}) {
    FreshFile fresh;
    Environment environment;
    EngineSettings settings;
    settings.period = 20000;
    settings.lost_count = counted;
    settings.target_cpu_ns = [] { return process_cpu_ns(); };
    RingEngine engine(settings);
    auto started = engine.start(&fresh.file(), Target::running({getpid()}), &environment);
    if (!started && !counted) FAIL() << started.error().text;
    if (!started) GTEST_SKIP() << "engine ring is not available here: " << started.error().text;
    uint64_t begun = process_cpu_ns();
    burn(600'000'000);
    engine.drain();
    burn(20'000'000);
    double due = static_cast<double>(process_cpu_ns() - begun) / static_cast<double>(settings.period);
    engine.stop();
    const Ledger& ledger = fresh.file().header().ledger;
    EXPECT_GT(ledger.lost, 0u) << "lost ticks " << (counted ? "counted" : "reported in records");
    // Of 20 us between two ticks the kernel takes some for the tick, which is not the process's CPU time: 11
    // % were seen where the host was slow.
    EXPECT_LT(static_cast<double>(ledger.counted + ledger.lost), 1.4 * due);
  }
  sched_setaffinity(0, sizeof all, &all);
}

// Of a process that ends before the rings are first read, /proc tells nothing any more.
TEST(RingEngine, TheWholeMachineIsKnownFromItsStart) {
  int held[2];
  ASSERT_EQ(pipe(held), 0);
  const pid_t child = fork();
  if (child == 0) {
    char go;
    if (read(held[0], &go, 1) != 1) _exit(1);
    burn(50'000'000);
    _exit(0);
  }
  FreshFile fresh;
  Environment environment;
  RingEngine engine(EngineSettings{});
  const auto started = engine.start(&fresh.file(), Target::machine(), &environment);
  EXPECT_EQ(write(held[1], "g", 1), 1);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  close(held[0]), close(held[1]);
  if (!started) GTEST_SKIP() << "this user may not observe the machine: " << started.error().text;
  engine.drain();
  engine.stop();
  EXPECT_EQ(fresh.file().header().machine_cpus, static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  std::string comm = "(no ticks)";
  for_each_process(fresh.file(), 100000, [&](const ProcessRecord& record, uint32_t) {
    if (record.pid == child) comm = record.comm;
    return record.pid == child;
  });
  EXPECT_EQ(comm, comm_of(getpid()));
}

/// Four times: a child that burns 10 ms, and another when it has ended, without end.
pid_t start_family() {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int children = 0;; ++children) {
    if (children >= 4) wait(nullptr);
    if (fork() != 0) continue;
    burn(10'000'000);
    _exit(0);
  }
}

unsigned unknown_processes(const ProfileFile& file) {
  unsigned count = 0;
  for_each_process(file, 100000, [&](const ProcessRecord& record, uint32_t) {
    count += strcmp(record.comm, "(unknown)") == 0;
    return false;
  });
  return count;
}

// They have its events, which are off until all are open: their start is in no record. 3 to 9 of 40
// recordings had such a child.
TEST(RingEngine, ChildrenThatStartWhileItsEventsAreOpenedAreKnown) {
  constexpr unsigned kRecordings = 40;
  const pid_t family = start_family();
  unsigned unknown = 0;
  for (unsigned i = 0; i < kRecordings; ++i) {
    FreshFile fresh;
    Environment environment;
    EngineSettings settings;
    settings.paths = true;  // by threads, whoever records
    settings.scope = ScopeKind::kProgram;
    ASSERT_TRUE(add_call_paths(&fresh.file(), {.context_bytes = 64 << 10, .plane_bytes = 64 << 10}));
    RingEngine engine(settings);
    const auto started = engine.start(&fresh.file(), Target::running({family}), &environment);
    if (!started) GTEST_SKIP() << "engine ring is not available here: " << started.error().text;
    burn(30'000'000);
    engine.drain();
    engine.stop();
    unknown += unknown_processes(fresh.file()) != 0;
  }
  kill(family, SIGKILL);
  EXPECT_LE(unknown, 1u) << "where a host holds the recorder for 10 ms just then";
}

}  // namespace
}  // namespace pctally
