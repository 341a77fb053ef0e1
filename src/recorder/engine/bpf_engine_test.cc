#include "recorder/engine/bpf_engine.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <functional>
#include <string>

#include "base/kernel/cpu_time_for_test.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"
#include "recorder/engine/bpf_probe.h"

namespace pctally {
namespace {

[[noreturn]] void burn_and_exit(uint64_t ns) {
  burn(ns);
  _exit(0);
}

/// The sets of /proc/PID/status, as text, e.g. "0000000000000000".
std::string capability_set(const char* process, const char* which) {
  FILE* file = fopen((std::string("/proc/") + process + "/status").c_str(), "re");
  char line[256], value[64] = "unknown";
  while (file != nullptr && fgets(line, sizeof line, file) != nullptr)
    if (strncmp(line, which, strlen(which)) == 0) sscanf(line + strlen(which), ": %63s", value);
  if (file != nullptr) fclose(file);
  return value;
}

/// The engine gives up its process's capabilities: each test has a process of its own.
class BpfEngineTest : public testing::Test {
 protected:
  void SetUp() override {
    EngineProbe probe = probe_bpf();
    if (!probe.available) GTEST_SKIP() << "engine bpf is not available here: " << probe.reason;
  }

  void in_own_process(const std::function<void()>& test) {
    pid_t pid = ::fork();
    if (pid == 0) {
      test();
      fflush(nullptr);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }

  /// A process that runs `work` once let_go().
  pid_t hold(const std::function<void()>& work) {
    EXPECT_EQ(pipe(gate_), 0);
    pid_t pid = ::fork();
    if (pid == 0) {
      close(gate_[1]);  // a test that ends early lets it end
      char go;
      if (read(gate_[0], &go, 1) == 1) work();
      _exit(1);
    }
    return pid;
  }
  void let_go() { EXPECT_EQ(write(gate_[1], "g", 1), 1); }

  /// The CPU time of the process, and of the children that it has waited for.
  uint64_t drain_until_end(BpfEngine* engine, pid_t pid) {
    int status = 0;
    rusage used{};
    while (wait4(pid, &status, WNOHANG, &used) == 0) usleep(20000), engine->drain();
    EXPECT_EQ(status, 0);
    engine->stop();
    return to_ns(used.ru_utime) + to_ns(used.ru_stime);
  }

  /// What the kernel counted is what the file accounts for, and what its processes have.
  void expect_exact(const BpfEngine& engine) {
    const Ledger& ledger = file_.header().ledger;
    const BpfCounter::Totals& totals = engine.totals();
    uint64_t ticks = ledger.counted + ledger.outside + ledger.full, by_process = 0;
    EXPECT_EQ(totals.passed, ticks + engine.before_exec() + totals.unowned);
    EXPECT_GE(ledger.lost, totals.unowned);  // and what a kernel that throttles kept back
    if (file_.header().throttled == 0) {
      EXPECT_EQ(ledger.lost, totals.unowned);
    }
    EXPECT_EQ(ledger.samples, ticks);
    for (const auto& [name, count] : fresh_.by_comm()) by_process += count;
    EXPECT_EQ(by_process, ticks);
  }

  EngineSettings settings_{.event = kCpuTime, .period = 100000, .target_cpu_ns = {}};
  Environment environment_;
  FreshFile fresh_;
  ProfileFile& file_ = fresh_.file();

 private:
  int gate_[2] = {-1, -1};
};

// 200 children shorter than a drain, exec chains and a shell: every tick of the kernel's is in the file,
// under a process that is known by its name.
TEST_F(BpfEngineTest, EveryTickTheKernelCountedIsInTheFile) {
  in_own_process([this] {
    pid_t child = hold([] {
      execl("/bin/sh", "sh", "-c",
            "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done; exec sh -c :", nullptr);
    });
    BpfEngine engine(settings_);
    auto started = engine.start(&file_, Target::command(child), &environment_);
    ASSERT_TRUE(started) << started.error().text;
    let_go();
    drain_until_end(&engine, child);
    expect_exact(engine);
    auto ticks = fresh_.by_comm();
    EXPECT_GT(ticks["true"], 100u);  // 200 execs of some 0.3 ms
    EXPECT_EQ(ticks.count("(unknown)"), 0u);
    EXPECT_EQ(file_.header().ledger.full, 0u);
  });
}

#if PCTALLY_FOLLOWS_PATHS
// The same with call paths: each tick has one, and what is complete is most of them.
TEST_F(BpfEngineTest, EveryTickHasAPath) {
  in_own_process([this] {
    ASSERT_TRUE(add_call_paths(&file_, PathLimits{}));
    settings_.scope = ScopeKind::kProgram;
    settings_.paths = true;
    pid_t child = hold([] {
      execl("/bin/sh", "sh", "-c",
            "i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done; exec sh -c "
            "'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'",
            nullptr);
    });
    BpfEngine engine(settings_);
    auto started = engine.start(&file_, Target::command(child), &environment_);
    ASSERT_TRUE(started) << started.error().text;
    let_go();
    drain_until_end(&engine, child);
    expect_exact(engine);
    EXPECT_GT(engine.totals().paths, 100u);
    const PathRecord& paths = *call_paths(file_);
    EXPECT_EQ(ticks_of(file_.pool(), paths.context) + paths.no_room, file_.header().ledger.samples);
  });
}
#endif

TEST_F(BpfEngineTest, WithoutChildrenOnlyTheCommandIsCounted) {
  in_own_process([this] {
    settings_.children = false;
    pid_t child = hold([] {
      execl("/bin/sh", "sh", "-c", "(i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done); :", nullptr);
    });
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::command(child), &environment_));
    let_go();
    const uint64_t used = drain_until_end(&engine, child);
    expect_exact(engine);
    // The subshell's loop takes 150 ms, the shell's start 1, or 20 where starts are slow.
    EXPECT_LT(file_.header().ledger.counted * settings_.period, used / 2);
    EXPECT_EQ(file_.header().process_count, 1u);
  });
}

/// burn() works for 200 ms besides what a host holds, which brings no ticks: 2,000 ticks. Would each come by
/// chance, these were nine standard deviations fewer.
constexpr uint64_t kFewestOfBurnNs = 160'000'000;

TEST_F(BpfEngineTest, AttachedProcessIsCountedFromThenOn) {
  in_own_process([this] {
    const uint64_t stolen_before = stolen_ns();
    pid_t child = hold([] { burn_and_exit(200000000); });
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::running({child}), &environment_));
    let_go();
    const uint64_t used = drain_until_end(&engine, child);
    const uint64_t stolen = stolen_ns() - stolen_before;
    expect_exact(engine);
    const uint64_t counted_ns = file_.header().ledger.counted * settings_.period;
    EXPECT_GT(counted_ns + stolen, kFewestOfBurnNs);
    EXPECT_LT(counted_ns, used + used / 10);
  });
}

TEST_F(BpfEngineTest, WholeMachineKnowsOldAndNewProcessesByName) {
  in_own_process([this] {
    const uint64_t stolen_before = stolen_ns();
    pid_t child = hold([] { burn_and_exit(200000000); });
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::machine(), &environment_));
    let_go();
    drain_until_end(&engine, child);
    const uint64_t stolen = stolen_ns() - stolen_before;
    expect_exact(engine);
    char name[16];  // as the kernel has it
    ASSERT_EQ(prctl(PR_GET_NAME, name), 0);
    EXPECT_GT(fresh_.by_comm()[name] * settings_.period + stolen, kFewestOfBurnNs);
  });
}

// A recorder that gets no CPU for a second: the tables keep what they have room for, and the
// rest is reported.
TEST_F(BpfEngineTest, LateRecorderLosesNoTick) {
  in_own_process([this] {
    settings_.period = 20000;
    pid_t child = hold(
        [] { execl("/bin/sh", "sh", "-c", "i=0; while [ $((i += 1)) -le 300000 ]; do :; done", nullptr); });
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::command(child), &environment_));
    let_go();
    waitpid(child, nullptr, 0);
    engine.stop();
    expect_exact(engine);
    EXPECT_GT(engine.totals().passed, 1000u);
  });
}

/// Signals are passed on to a command that has changed its user.
TEST_F(BpfEngineTest, GivesUpItsCapabilitiesButToSignalItsCommand) {
  in_own_process([this] {
    pid_t child = hold([] { _exit(0); });
    std::string before = capability_set("thread-self", "CapEff");
    ASSERT_NE(before, "0000000000000000");
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::command(child), &environment_));
    ASSERT_TRUE(engine.drop_privileges());
    const uint64_t signal = stoull(before, nullptr, 16) & uint64_t{1} << CAP_KILL;
    for (const char* set : {"CapPrm", "CapEff"})
      EXPECT_EQ(stoull(capability_set("thread-self", set), nullptr, 16), signal) << set;
    for (const char* set : {"CapInh", "CapAmb"})
      EXPECT_EQ(capability_set("thread-self", set), "0000000000000000") << set;
    EXPECT_EQ(capability_set(std::to_string(child).c_str(), "CapEff"), before) << "the command keeps its own";
    EXPECT_TRUE(file_.make_room(100000)) << "the file can still grow";
    let_go();
    drain_until_end(&engine, child);
  });
}

TEST_F(BpfEngineTest, KeepsNoCapabilityWithoutACommand) {
  in_own_process([this] {
    BpfEngine engine(settings_);
    ASSERT_TRUE(engine.start(&file_, Target::running({getpid()}), &environment_));
    ASSERT_TRUE(engine.drop_privileges());
    EXPECT_EQ(capability_set("thread-self", "CapPrm"), "0000000000000000");
    engine.stop();
  });
}

TEST_F(BpfEngineTest, NoCgroupIsAnError) {
  in_own_process([this] {
    BpfEngine engine(settings_);
    auto started = engine.start(&file_, Target::control_group("/nowhere"), &environment_);
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ENOENT);
    started = BpfEngine(settings_).start(&file_, Target::control_group("/tmp"), &environment_);
    ASSERT_FALSE(started);
    EXPECT_STREQ(started.error().text,
                 "/tmp: not a cgroup v2 directory, which bpf needs; findmnt -t cgroup2 lists their roots");
  });
}

// `record -v` prints it, `pctally engines` the probe's.
TEST(BpfBlindness, IsWhatItsProbeSays) {
  EXPECT_EQ(BpfEngine(EngineSettings{}).blind_spots(), probe_bpf().misses);
  EXPECT_NE(probe_bpf().misses, "");
}

}  // namespace
}  // namespace pctally
