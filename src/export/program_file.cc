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

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_alphanumeric(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether a word ends before `rest`: it may have a version.
bool ends_word(std::string_view rest) {
  while (!rest.empty() && is_digit(rest.front())) rest.remove_prefix(1);
  return rest.empty() || !is_alphanumeric(rest.front());
}

/// Whether a link called `wanted` may lead to a file called `name`: that is the name with something before a
/// dash or behind it, or it ends in the name.
bool is_called_like(std::string_view name, std::string_view wanted) {
  if (wanted.empty()) return false;
  if (name.ends_with(wanted)) return true;
  for (size_t at = name.find(wanted); at != std::string_view::npos; at = name.find(wanted, at + 1))
    if ((at == 0 || name[at - 1] == '-') && ends_word(name.substr(at + wanted.size()))) return true;
  return false;
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
    const Rank rank(is_it && file.path == command, is_it, programs.contains(name),
                    is_called_like(name, wanted), ticks[i]);
    if (best && rank <= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  return best;
}

}  // namespace pctally
