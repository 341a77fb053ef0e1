#include "report/runtime_hints.h"

#include <gmock/gmock.h>

#include "report/fake_symbolizer_for_test.h"

namespace pctally {
namespace {

Row row(std::string function, std::string object, uint64_t ticks) {
  Row row;
  row.function = std::move(function);
  row.object = std::move(object);
  row.ticks = ticks;
  return row;
}

Profile of(std::string path) {
  Profile profile;
  profile.ledger.counted = 1000;
  profile.executables = {{ExecutableKind::kFile, std::move(path), {}, 0}};
  return profile;
}

const char* way_to_names(const Profile& profile) {
  return way_to_names(profile, {.path = "", .build_id = {}, .owner = 7});
}

TEST(RuntimeHints, SayWhatToStartARuntimeWith) {
  EXPECT_STREQ(way_to_names(of("/opt/jdk/lib/server/libjvm.so")),
               "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit names it");
  EXPECT_STREQ(way_to_names(of("/usr/bin/node")), "node --perf-basic-prof names it");
  EXPECT_STREQ(way_to_names(of("/usr/lib/erlang/bin/beam.smp")), "ERL_FLAGS='+JPperf true' names it");
  EXPECT_STREQ(way_to_names(of("/usr/bin/mono-sgen")), "mono --jitmap names it");
  EXPECT_STREQ(way_to_names(of("/bin/unknown")),
               "a runtime that writes /tmp/perf-PID.map or a jitdump names it");
}

TEST(RuntimeHints, OfSeveralRuntimesAreOfTheProcessThatMadeTheCode) {
  Profile profile = of("/opt/jdk/lib/server/libjvm.so");
  profile.executables.push_back({ExecutableKind::kFile, "/usr/bin/node", {}, 0});
  profile.processes = {{.pid = 6, .comm = "java", .engine = "", .note = ""},
                       {.pid = 7, .comm = "node", .engine = "", .note = ""}};
  EXPECT_STREQ(way_to_names(profile), "node --perf-basic-prof names it");
  profile.processes[1].comm = "grep";
  EXPECT_STREQ(way_to_names(profile), "a runtime that writes /tmp/perf-PID.map or a jitdump names it");
}

std::vector<Warning> hints(const std::vector<Row>& rows) {
  std::vector<Warning> warnings;
  add_interpreter_hint(of("/usr/bin/python3.11"), rows, &warnings);
  return warnings;
}

TEST(RuntimeHints, SayThatAnInterpreterHidesFunctions) {
  const auto found =
      hints({row("_PyEval_EvalFrameDefault", "python3.11", 500), row("long_add", "python3.11", 110)});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].text,
            "61 % is inside python3.11, which hides Python functions; cProfile names them; pctally needs "
            "3.12 and -X perf");
  const auto younger = hints({row("_PyEval_EvalFrameDefault", "libpython3.13.so.1.0", 500)});
  ASSERT_EQ(younger.size(), 1u);
  EXPECT_EQ(younger[0].text,
            "50 % is inside libpython3.13.so.1.0, which hides Python functions; pctally record -g -- python3 "
            "-X perf names them");
  EXPECT_TRUE(
      hints({row("_PyEval_EvalFrameDefault", "python3.13", 500), row("py::f:/a.py", "[jit]", 0)}).empty());
  EXPECT_TRUE(hints({row("main", "python3.11", 150), row("f", "numpy.so", 850)}).empty());
  EXPECT_TRUE(hints({}).empty());
  const auto library =
      hints({row("_PyEval_EvalFrameDefault", "libpython3.12.so.1.0", 500), row("main", "python3.12", 0)});
  ASSERT_EQ(library.size(), 1u);
  EXPECT_THAT(library[0].text, testing::StartsWith("50 % is inside libpython3.12.so.1.0, which hides"));
}

TEST(RuntimeHints, AreNoneByObjectWhichNamesNoFunction) {
  Profile profile = of("/usr/bin/python3.12");
  profile.positions = {{0, 0x100, 1000}};
  const auto has_hint = [&](Grouping by) {
    return std::ranges::any_of(
        make_report(profile, FakeSymbolizer::open, {.by = by}).warnings,
        [](const Warning& warning) { return warning.id == std::string("interpreter"); });
  };
  EXPECT_TRUE(has_hint(Grouping::kFunction));
  EXPECT_FALSE(has_hint(Grouping::kObject));
}

/// 300 of 1,000 ticks are cut for `end` below code of the second object.
std::vector<Warning> hints_of_cut(const std::string& runtime, PathEnd end, const std::string& engine) {
  Profile profile = of(runtime);
  profile.engine = engine;
  profile.executables.push_back({ExecutableKind::kPrivate, "", {}, 7});
  profile.paths.recorded = true;
  const auto at = static_cast<uint64_t>(end);
  profile.paths.context = {
      {.kind = PathNodeKind::kScope},
      {.parent = 0, .kind = PathNodeKind::kCut, .position = at},
      {.parent = 1, .kind = PathNodeKind::kCode, .executable = 1, .position = 64, .self = 300},
      {.parent = 0, .kind = PathNodeKind::kCode, .position = 64, .self = 700}};
  std::vector<Warning> warnings;
  add_cut_path_hint(profile, &warnings);
  return warnings;
}

TEST(RuntimeHints, SayWhatCompletesCutPaths) {
  const auto java = hints_of_cut("/opt/libjvm.so", PathEnd::kNoUnwindTable, "bpf");
  ASSERT_EQ(java.size(), 1u);
  EXPECT_EQ(java[0].text,
            "30 % of the call paths are cut at code without unwind table; java -XX:+PreserveFramePointer "
            "completes them");
  EXPECT_TRUE(hints_of_cut("/bin/luajit", PathEnd::kNoUnwindTable, "bpf").empty());
  const auto deep = hints_of_cut("/lib/libR.so", PathEnd::kUnreadable, "ring");
  ASSERT_EQ(deep.size(), 1u);
  EXPECT_EQ(deep[0].text,
            "30 % of the call paths are cut where the stack could not be read; -e bpf or -e timer completes "
            "them");
  EXPECT_EQ(hints_of_cut("/lib/libR.so", PathEnd::kShortDump, "ring").size(), 1u);
  EXPECT_TRUE(hints_of_cut("/lib/libR.so", PathEnd::kUnreadable, "timer").empty());
}

}  // namespace
}  // namespace pctally
