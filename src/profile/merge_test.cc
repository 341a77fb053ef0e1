#include "profile/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "histread/file_builder_for_test.h"
#include "histread/path_reader.h"
#include "profile/load.h"
#include "profile/path_file_for_test.h"
#include "profile/write.h"

namespace pctally {
namespace {

/// A run of /a and /lib, with one position in common with every other run.
Profile run_of(uint8_t id, uint64_t period, uint64_t ticks) {
  FileBuilder file;
  FileHeader& header = file.header();
  header.recording_id[0] = id;
  header.boot_id[0] = id;
  header.period_ns = header.period_asked_ns = period;
  header.started_unix_ns = 100u + id;
  header.started_ns = 0;
  header.ended_ns = 10;
  header.cpu_known = 1;
  header.cpu_user_ns = ticks * period;
  const uint32_t a = file.segment(file.object("/a", "id"), 4096, 1 << 20);
  const uint32_t kernel = file.segment(file.object("[kernel]", {}, ObjectKind::kKernel), 0xffff0000, 4096);
  file.count(a, 4100, ticks);
  file.count(a, 4096 + 1000u * id, 2);
  file.count(a, 4096 + 700000, 1);
  file.count(kernel, 0xffff0010, 3);
  header.ledger.outside = id;
  header.ledger.lost = 1;
  file.process(id, "a", ticks + 6);
  file.command(std::string("./a\0", 4));
  return load_profile(file.bytes()).value();
}

std::vector<unsigned char> merged(const std::vector<Profile>& profiles) {
  Merger merger;
  for (const Profile& profile : profiles) {
    auto added = merger.add(profile, "x");
    EXPECT_TRUE(added) << added.error().text;
  }
  return merged_file(merger.take()).value();
}

uint64_t nanoseconds(const Profile& profile) { return profile.ledger.ticks() * profile.period_ns; }

TEST(Merge, TicksOfOnePeriodStayTicks) {
  const Profile sum = load_profile(merged({run_of(1, 1000, 10), run_of(2, 1000, 20)})).value();
  EXPECT_TRUE(sum.damage.empty());
  EXPECT_EQ(sum.period_ns, 1000u);
  EXPECT_EQ(sum.ledger.counted, 42u);
  EXPECT_EQ(sum.ledger.outside, 3u);
  EXPECT_EQ(sum.ledger.lost, 2u);
  EXPECT_EQ(sum.runs.size(), 2u);
  EXPECT_EQ(sum.command, std::vector<std::string>{"./a"});
  EXPECT_EQ(sum.duration_ns, 20u);
  EXPECT_EQ(sum.cpu_user_ns, 30'000u);
  EXPECT_EQ(sum.processes.size(), 2u);
}

TEST(Merge, OfOtherPeriodsIsInWholeNanoseconds) {
  const Profile a = run_of(1, 997, 10), b = run_of(2, 1003, 20);
  const Profile sum = load_profile(merged({a, b})).value();
  EXPECT_TRUE(sum.damage.empty());
  EXPECT_EQ(sum.period_ns, 1u);
  EXPECT_EQ(sum.ledger.ticks(), nanoseconds(a) + nanoseconds(b));
  uint64_t shared = 0;
  for (const WeightedPosition& position : sum.positions)
    if (position.position == 4100) shared += position.ticks;
  EXPECT_EQ(shared, 10u * 997 + 20u * 1003);
  EXPECT_EQ(sum.runs[0].ledger.counted, a.ledger.counted);
  EXPECT_EQ(sum.runs[0].period_ns, 997u);
  EXPECT_EQ(sum.runs[0].ledger.samples, a.ledger.samples);
  EXPECT_EQ(sum.processes[1].ticks, 26u * 1003);
}

// The kernel's addresses of two boots mean different functions, and so do those of code made at run time.
TEST(Merge, AddressesOfOneBootAreNotMixedWithAnothers) {
  const Profile sum = load_profile(merged({run_of(1, 1000, 10), run_of(2, 1000, 20)})).value();
  std::map<std::vector<uint8_t>, uint64_t> kernel;
  for (const WeightedPosition& position : sum.positions)
    if (sum.executables[position.executable].kind == ExecutableKind::kKernel)
      kernel[sum.executables[position.executable].boot_id] += position.ticks;
  EXPECT_EQ(kernel.size(), 2u);
  for (const auto& [boot, ticks] : kernel) EXPECT_EQ(ticks, 3u);
}

TEST(Merge, RefusesWhatHasNoSum) {
  const auto refusal = [](Profile first, Profile second) {
    Merger merger;
    EXPECT_TRUE(merger.add(std::move(first), "a.pct"));
    auto added = merger.add(std::move(second), "b.pct");
    EXPECT_FALSE(added);
    return added ? std::string() : std::string(added.error().text);
  };
  Profile events = run_of(2, 1, 5), unknown = run_of(2, 1000, 5), paths = run_of(2, 1000, 5);
  events.event = "page-faults";
  unknown.period_ns = 0;
  paths.paths.recorded = true;
  Profile threads = run_of(1, 1000, 5), groups = run_of(2, 1000, 5);
  threads.paths.one_frame = groups.paths.one_frame = true;
  threads.paths.scopes = {{"/prog", {}, PathScopeKind::kThread, "io"}};
  groups.paths.scopes = {{"/slice", {}, PathScopeKind::kGroup}};
  EXPECT_EQ(
      refusal(threads, groups),
      "a.pct is by thread and b.pct by control group; record all with one --scope, or merge with --no-paths");
  EXPECT_EQ(
      refusal(run_of(1, 1000, 5), groups),
      "b.pct has ticks by program and a.pct has none; record all with one --scope, or merge with --no-paths");
  EXPECT_EQ(refusal(run_of(1, 1000, 5), events),
            "a.pct counts CPU time and b.pct page-faults: these cannot be added");
  Profile bytes = run_of(1, 1, 5), number = run_of(2, 1, 5);
  bytes.event = number.event = "heap";
  bytes.event_unit = "bytes";
  EXPECT_EQ(refusal(bytes, number), "a.pct has heap in bytes and b.pct in count: these cannot be added");
  EXPECT_EQ(refusal(run_of(1, 1000, 5), unknown),
            "b.pct does not say what a tick stands for: it cannot be added");
  Profile unknown_runs = run_of(2, 1000, 5);
  unknown_runs.runs.emplace_back();
  EXPECT_EQ(refusal(run_of(1, 1000, 5), unknown_runs),
            "b.pct does not say what a tick stands for: it cannot be added");
  EXPECT_EQ(refusal(run_of(1, 1000, 5), run_of(1, 1000, 5)),
            "a.pct and b.pct are of one recording, which would count twice; leave one out");
  EXPECT_EQ(refusal(run_of(1, 1000, 5), paths),
            "b.pct has call paths and a.pct has none; record all with -g, or merge with --no-paths");
  EXPECT_EQ(refusal(run_of(1, uint64_t{1} << 39, 1 << 17), run_of(2, 1, 5)),
            "with b.pct the sum is more than a profile holds (834 days of CPU time)");
}

TEST(Merge, TakesNoMoreMemoryThanAllowed) {
  Merger merger(8 << 20);
  EXPECT_TRUE(merger.check_room(1 << 20, "a.pct"));
  auto room = merger.check_room(8 << 20, "big.pct");
  ASSERT_FALSE(room);
  EXPECT_STREQ(room.error().text,
               "the sum takes more than 8 MiB from big.pct on; name fewer files, or add them up with pctally "
               "merge --memory");
  Profile wide = run_of(1, 1000, 5);
  for (uint64_t i = 0; i < 500'000; ++i) wide.positions.push_back({0, 8192 + 32 * i, 1});
  EXPECT_FALSE(merger.add(std::move(wide), "wide.pct"));
}

TEST(Merge, AFileTakesNoMoreThanIsLeft) {
  Merger merger;
  EXPECT_TRUE(merger.add(run_of(1, 1000, 5), "a.pct"));
  const Profile sum = merger.take();
  const size_t size = merged_file(sum)->size();
  EXPECT_EQ(merged_file(sum, size)->size(), size);
  for (const size_t less : {uint64_t{0}, kHeaderBytes + 64, uint64_t{size - 64}})
    EXPECT_FALSE(merged_file(sum, less)) << less;
}

/// scope /prog -> main at 4100 -> leaf at `leaf`.
Profile with_paths(uint8_t id, uint64_t period, uint64_t leaf) {
  Profile profile = run_of(id, period, 4);
  CallPaths& paths = profile.paths;
  paths.recorded = true;
  paths.scopes = {{"/other", {}}, {"/prog", {1, 2}}};
  const uint64_t placed = profile.ledger.counted + profile.ledger.outside;
  paths.no_room = 1;
  paths.context = {
      {.kind = PathNodeKind::kScope, .position = 1},
      {.parent = 0, .kind = PathNodeKind::kCode, .executable = 1, .position = 4100, .folded = 2},
      {.parent = 1, .kind = PathNodeKind::kCode, .executable = 1, .position = leaf, .self = placed - 6},
      {.kind = PathNodeKind::kScope, .position = 0},
      {.parent = 3, .kind = PathNodeKind::kCut, .position = 2, .self = 3}};
  paths.plane = {{.kind = PathNodeKind::kScope, .position = 1},
                 {.parent = 0, .kind = PathNodeKind::kCode, .executable = 1, .position = 4100, .self = 5}};
  return profile;
}

TEST(Merge, CallPathsAddUpNodeByNode) {
  std::vector<Profile> runs = {with_paths(1, 997, 5000), with_paths(2, 1003, 9'000'000),
                               with_paths(3, 1000, 5000)};
  EXPECT_FALSE(load_profile(merged(runs)).value().paths.first_come);
  runs[1].paths.first_come = true;
  const std::vector<unsigned char> bytes = merged(runs);
  EXPECT_EQ(merged({runs[2], runs[0], runs[1]}), bytes);
  const Profile sum = load_profile(bytes).value();
  EXPECT_TRUE(sum.damage.empty()) << sum.damage.front();
  EXPECT_EQ(sum_of_paths(sum.paths), sum.ledger.counted + sum.ledger.outside);
  EXPECT_EQ(sum.paths.no_room, 3000u);
  EXPECT_TRUE(sum.paths.first_come);
  ASSERT_EQ(sum.paths.context.size(), 6u);
  ASSERT_EQ(sum.paths.plane.size(), 2u);
  EXPECT_EQ(sum.paths.plane[1].self, 5u * 3000);
  std::map<uint64_t, uint64_t> leaves;
  for (const PathTreeNode& node : sum.paths.context)
    if (node.kind == PathNodeKind::kCode) leaves[node.position] += node.self;
  EXPECT_EQ(leaves[5000], (runs[0].ledger.counted + 1 - 6) * 997 + (runs[2].ledger.counted + 3 - 6) * 1000);
  EXPECT_EQ(merged({sum}), bytes);
}

/// A copy of a growing file: a path ends there of ticks that its cells do not have yet.
Profile with_a_path_ahead(uint8_t id) {
  PathFile file;
  FileHeader& header = file.builder.header();
  header.recording_id[0] = header.boot_id[0] = id;
  header.started_unix_ns = 100u + id;
  header.snapshot = 1;
  const uint32_t main = file.child(file.root(), PathPlace::code(file.segment, 0x10));
  file.count(file.child(main, PathPlace::code(file.segment, 0x20)), 5);
  file.node(file.child(main, PathPlace::code(file.segment, 0x30))).self = 9;
  Profile profile = load_profile(file.builder.bytes()).value();
  EXPECT_EQ(sum_of_paths(profile.paths), 5u);
  return profile;
}

TEST(Merge, EveryOrderAndEveryGroupingGivesTheSameBytes) {
  for (const std::vector<Profile>& runs :
       {std::vector<Profile>{run_of(1, 997, 10), run_of(2, 1000, 20), run_of(3, 1000, 5)},
        std::vector<Profile>{with_paths(1, 997, 5000), with_a_path_ahead(2), with_a_path_ahead(3)}}) {
    const std::vector<unsigned char> first = merged(runs);
    std::vector<size_t> order = {0, 1, 2};
    do {
      const Profile &a = runs[order[0]], &b = runs[order[1]], &c = runs[order[2]];
      EXPECT_EQ(merged({a, b, c}), first);
      EXPECT_EQ(merged({load_profile(merged({a, b})).value(), c}), first);
      EXPECT_EQ(merged({a, load_profile(merged({b, c})).value()}), first);
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_EQ(merged({load_profile(first).value()}), first);
  }
}

/// Ticks of thread "io" and of one other, without call paths.
Profile with_threads(uint8_t id, const std::string& other) {
  Profile profile = with_paths(id, 1000, 5000);
  CallPaths& paths = profile.paths;
  paths.recorded = false;
  paths.one_frame = true;
  paths.plane.clear();
  paths.scopes = {{"/prog", {1}, PathScopeKind::kThread, "io"},
                  {"/prog", {1}, PathScopeKind::kThread, other}};
  return profile;
}

TEST(Merge, ThreadsOfOneNameInOneProgramAddUp) {
  const std::vector<Profile> runs = {with_threads(1, "sixteen bytes!!!"), with_threads(2, "worker")};
  const std::vector<unsigned char> bytes = merged(runs);
  const Profile sum = load_profile(bytes).value();
  EXPECT_TRUE(sum.damage.empty());
  EXPECT_FALSE(sum.paths.recorded);
  EXPECT_TRUE(sum.paths.one_frame);
  ASSERT_EQ(sum.paths.scopes.size(), 3u);
  std::map<std::string, uint64_t> ticks;
  for (const PathTreeNode& node : sum.paths.context)
    if (node.kind == PathNodeKind::kCut)
      ticks[sum.paths.scopes[sum.paths.context[node.parent].position].thread] += node.self;
  EXPECT_EQ(ticks, (std::map<std::string, uint64_t>{{"io", 6}}));
  for (const PathScope& scope : sum.paths.scopes) EXPECT_EQ(scope.kind, PathScopeKind::kThread);
  EXPECT_EQ(sum_of_paths(sum.paths), sum.ledger.counted + sum.ledger.outside);
  EXPECT_EQ(merged({sum}), bytes);
}

// Any byte of a file may be wrong. Whatever is read of it, its sums agree or it is called damaged.
TEST(Merge, ReadsMergedFilesWithAnyByteWrong) {
  const std::vector<unsigned char> sound = merged({with_paths(1, 997, 5000), with_paths(2, 1003, 7000)});
  uint64_t state = 1;
  const auto random = [&state] {
    return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33;
  };
  for (int turn = 0; turn < 4000; ++turn) {
    std::vector<unsigned char> bytes = sound;
    for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<unsigned char>(random());
    const auto profile = load_profile(bytes);
    if (!profile || profile->runs.empty() || !profile->damage.empty()) continue;
    uint64_t amount = 0;
    for (const ProfileRun& run : profile->runs) amount += run.ledger.ticks() * run.period_ns;
    EXPECT_EQ(amount, profile->ledger.ticks() * profile->period_ns);
  }
}

TEST(Merge, DamagedRunsAreSeen) {
  std::vector<unsigned char> bytes = merged({run_of(1, 1000, 10), run_of(2, 1000, 20)});
  FileHeader header;
  memcpy(&header, bytes.data(), sizeof header);
  RunRecord run;
  unsigned char* at = bytes.data() + kHeaderBytes + kUnitBytes * header.runs;
  memcpy(&run, at, sizeof run);
  run.header.ledger.counted += 5;
  memcpy(at, &run, sizeof run);
  EXPECT_EQ(load_profile(bytes)->damage,
            std::vector<std::string>{"the ledgers of its runs do not add up to its own"});
}

}  // namespace
}  // namespace pctally
