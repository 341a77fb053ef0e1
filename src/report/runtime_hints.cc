#include "report/runtime_hints.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <string>

#include "base/base_name.h"

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

}  // namespace

const char* way_to_names(const Profile& profile) {
  if (has_executable(profile, "libjvm.so"))
    return "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit names it";
  if (has_executable(profile, "node") || has_executable(profile, "nodejs"))
    return "node --perf-basic-prof names it";
  if (has_executable(profile, "beam.smp")) return "ERL_FLAGS='+JPperf true' names it";
  if (has_executable(profile, "mono-sgen") || has_executable(profile, "mono"))
    return "mono --jitmap names it";
  return "a runtime that writes /tmp/perf-PID.map or a jitdump names it";
}

void add_interpreter_hint(const Profile& profile, const std::vector<Row>& rows,
                          std::vector<Warning>* warnings) {
  uint64_t ticks = 0;
  std::string name;
  if (std::any_of(rows.begin(), rows.end(), names_functions)) return;
  for (const Row& row : rows) {
    if (!is_python(row.object)) continue;
    ticks += row.ticks;
    name = row.object;
  }
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
