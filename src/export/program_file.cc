#include "export/program_file.h"

#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/base_name.h"
#include "profile/command.h"

namespace pctally {
namespace {

/// The names of the programs that ran, if the profile keeps them apart: of an import they have no directory.
std::set<std::string_view> programs_of(const CallPaths& paths) {
  std::set<std::string_view> programs;
  for (const PathScope& scope : paths.scopes)
    if (scope.kind != PathScopeKind::kGroup) programs.insert(base_name(scope.name));
  return programs;
}

bool is_library(std::string_view name) {
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

}  // namespace

std::optional<uint32_t> program_file(const Profile& profile) {
  const std::string_view command = has_command(profile) ? std::string_view(profile.command[0]) : "";
  const std::string_view wanted = base_name(command);
  const std::set<std::string_view> programs = programs_of(profile.paths);
  std::vector<uint64_t> ticks(profile.executables.size());
  for (const WeightedPosition& position : profile.positions) ticks[position.executable] += position.ticks;
  using Rank = std::tuple<bool, bool, bool, bool, uint64_t>;
  std::optional<uint32_t> best;
  Rank best_rank;
  for (uint32_t i = 0; i < profile.executables.size(); ++i) {
    const Executable& file = profile.executables[i];
    const std::string_view name = base_name(file.path);
    const bool is_it = !wanted.empty() && name == wanted;
    if (file.kind != ExecutableKind::kFile || (is_library(name) && !is_it)) continue;
    const bool has_name = !wanted.empty() && name.find(wanted) != std::string_view::npos;
    const Rank rank(is_it && file.path == command, is_it, programs.contains(name), has_name, ticks[i]);
    if (best && rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

}  // namespace pctally
