#include "report/runtime_hints.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/base_name.h"
#include "report/account/path_account.h"
#include "report/path_totals.h"

namespace pctally {
namespace {

bool is_python(const std::string& object) {
  return object.starts_with("python3.") || object.starts_with("libpython3.");
}

/// From there on `python -X perf` puts a piece of code with a name between Python functions.
bool can_name_functions(const std::string& object) {
  constexpr int kFirst = 12;
  return atoi(object.c_str() + object.find('.') + 1) >= kFirst;
}

bool names_functions(const Row& row) { return row.function.starts_with("py::"); }

bool has_executable(const Profile& profile, std::string_view name) {
  return std::any_of(profile.executables.begin(), profile.executables.end(),
                     [name](const Executable& it) { return base_name(it.path) == name; });
}

/// A runtime that makes code, and the option with which it writes names.
struct Runtime {
  const char* executable;
  const char* comm;
  const char* way;
};

constexpr Runtime kRuntimes[] = {
    {"libjvm.so", "java", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit names it"},
    {"node", "node", "node --perf-basic-prof names it"},
    {"nodejs", "nodejs", "node --perf-basic-prof names it"},
    {"beam.smp", "beam.smp", "ERL_FLAGS='+JPperf true' names it"},
    {"mono-sgen", "mono-sgen", "mono --jitmap names it"},
    {"mono", "mono", "mono --jitmap names it"},
    {"php8.2", "php", "php -d opcache.jit_debug=16 names it"},
    {"php8.4", "php", "php -d opcache.jit_debug=16 names it"},
};

/// Whether most of the ticks cut there are cut at code that a runtime has made.
bool is_cut_at_made_code(const Profile& profile, PathEnd end) {
  const PathTree& tree = profile.paths.context;
  const std::vector<uint64_t> below = ticks_below(tree);
  uint64_t all = 0, made = 0;
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].kind != PathNodeKind::kCode || tree[i].parent == PathTreeNode::kNoParent) continue;
    const PathTreeNode& outer = tree[tree[i].parent];
    if (outer.kind != PathNodeKind::kCut || outer.position != static_cast<uint64_t>(end)) continue;
    all += below[i];
    made += is_made_code(profile.executables[tree[i].executable]) ? below[i] : 0;
  }
  return made > all / 2;
}

/// Empty if nothing is known that completes the paths of that cut.
std::string way_to_complete(const Profile& profile, const PathAccount::Cut& cut) {
  if (cut.end == PathEnd::kNoUnwindTable && has_executable(profile, "libjvm.so") &&
      is_cut_at_made_code(profile, cut.end))
    return "java -XX:+PreserveFramePointer completes them";
  const bool is_of_copy = cut.end == PathEnd::kShortDump || cut.end == PathEnd::kUnreadable;
  return is_of_copy && profile.engine == "ring" ? "-e bpf or -e timer completes them" : "";
}

}  // namespace

bool is_made_code(const Executable& executable) {
  const bool in_memory = executable.path.starts_with("/memfd:") && executable.build_id.empty();
  return executable.kind == ExecutableKind::kPrivate || in_memory;
}

const char* way_to_names(const Profile& profile, const Executable& made) {
  std::vector<const Runtime*> there;
  for (const Runtime& runtime : kRuntimes)
    if (has_executable(profile, runtime.executable)) there.push_back(&runtime);
  if (there.size() == 1) return there[0]->way;
  const auto process = std::ranges::find(profile.processes, made.owner, &ProfileProcess::pid);
  for (const Runtime* runtime : there)
    if (process != profile.processes.end() && process->comm == runtime->comm) return runtime->way;
  return "a runtime that writes /tmp/perf-PID.map or a jitdump names it";
}

void add_cut_path_hint(const Profile& profile, std::vector<Warning>* warnings) {
  if (!profile.paths.recorded) return;
  const PathAccount account = path_account(profile.paths);
  for (const PathAccount::Cut& cut : account.cuts) {
    const double share = static_cast<double>(cut.ticks) / static_cast<double>(account.ticks);
    const std::string way = share < kHintsFrom ? "" : way_to_complete(profile, cut);
    if (!way.empty())
      warnings->push_back(
          {Severity::kNote, "cut-paths",
           fmt::format("{:.0f} % of the call paths are {}; {}", 100 * share, cut.reason, way)});
  }
}

void add_interpreter_hint(const Profile& profile, const std::vector<Row>& rows,
                          std::vector<Warning>* warnings) {
  uint64_t ticks = 0;
  std::map<std::string, uint64_t> ticks_of;
  if (std::any_of(rows.begin(), rows.end(), names_functions)) return;
  for (const Row& row : rows) {
    if (!is_python(row.object)) continue;
    ticks += row.ticks;
    ticks_of[row.object] += row.ticks;
  }
  if (ticks == 0) return;
  const std::string& name =
      std::ranges::max_element(ticks_of, {}, &std::pair<const std::string, uint64_t>::second)->first;
  const double share =
      static_cast<double>(ticks) / static_cast<double>(std::max<uint64_t>(1, profile.ledger.ticks()));
  if (share < kHintsFrom) return;
  warnings->push_back(
      {Severity::kNote, "interpreter",
       fmt::format("{:.0f} % is inside {}, which hides Python functions; {}", 100 * share, name,
                   can_name_functions(name) ? "pctally record -g -- python3 -X perf names them"
                                            : "cProfile names them; pctally needs 3.12 and -X perf")});
}

}  // namespace pctally
