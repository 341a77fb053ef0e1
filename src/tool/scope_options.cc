#include "tool/scope_options.h"

#include "base/base_name.h"
#include "report/scope_choice.h"
#include "report/scope_names.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/load_profiles.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

constexpr std::string_view kAndFunction = ",function";

/// A grouping by what the options name.
Grouping grouping_for(const ScopeOptions& options) {
  if (!options.thread.empty()) return Grouping::kThread;
  return options.program.empty() ? Grouping::kGroup : Grouping::kProgram;
}

/// What the profile lacks, and the word of record --scope that keeps it.
std::pair<const char*, const char*> lacking(Grouping by) {
  if (by == Grouping::kThread || by == Grouping::kThreadFunction) return {"ticks by thread", "thread"};
  if (by == Grouping::kGroup || by == Grouping::kGroupFunction) return {"ticks by control group", "cgroup"};
  return {"ticks by program", "program"};
}

int refuse_another_tools(const std::string& file, Grouping by) {
  complain("{} is a profile of another tool and has no {}", file, lacking(by).first);
  return kExitInput;
}

/// Folded stacks without programs have the file's name in place of one: no two runs have it.
bool is_its_own_program(const Profile& profile, const std::string& file) {
  const std::vector<PathScope>& scopes = profile.paths.scopes;
  return is_of_another_tool(profile) && scopes.size() == 1 && base_name(scopes[0].name) == base_name(file);
}

}  // namespace

std::string check_pattern(const std::string& text) {
  auto pattern = NamePattern::compile(text);
  return pattern ? "" : text + ": " + pattern.error().text;
}

std::optional<NamePattern> pattern_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return std::move(*NamePattern::compile(text));
}

void describe_scope_options(OptionParser& app, ScopeOptions& options) {
  app.add_option("--program", options.program)->check(check_pattern);
  app.add_option("--thread", options.thread)->check(check_pattern);
  app.add_option("--cgroup", options.group)->check(check_pattern);
}

std::string check_grouping(const std::string& word) {
  std::string first = word;
  if (word.ends_with(kAndFunction)) {
    first.resize(word.size() - kAndFunction.size());
    if (is_by_scope(grouping_of(first))) return "";
    return word + ": choose program,function, thread,function or cgroup,function";
  }
  return one_of({"function", "object", "line", "process", "command", "program", "thread", "cgroup"})(word);
}

std::optional<int> refuse_without_scopes(const Profile& profile, const std::string& file, Grouping by,
                                         const ScopeOptions& options) {
  if (options.any() && has_scopes_for(profile.paths, by)) by = grouping_for(options);
  if (!options.program.empty() && !has_scopes_for(profile.paths, Grouping::kProgram)) by = Grouping::kProgram;
  if (!options.group.empty() && !has_scopes_for(profile.paths, Grouping::kGroup)) by = Grouping::kGroup;
  if (has_scopes_for(profile.paths, by)) return std::nullopt;
  if (is_of_another_tool(profile)) return refuse_another_tools(file, by);
  const auto [what, word] = lacking(by);
  complain("{} has no {}; record with pctally record --scope {}{}", file, what, word,
           by == Grouping::kProgram && options.program.empty() ? ", or write --by command" : "");
  return kExitInput;
}

std::optional<int> refuse_without_scopes(const std::vector<Profile>& profiles,
                                         const std::vector<std::string>& files, Grouping by) {
  for (size_t i = 0; i < profiles.size(); ++i) {
    if (auto code = refuse_without_scopes(profiles[i], files[i], by, {})) return code;
    if (by == Grouping::kProgram && is_its_own_program(profiles[i], files[i]))
      return refuse_another_tools(files[i], by);
  }
  return std::nullopt;
}

std::optional<int> choose_scopes(const ScopeOptions& options, Profile* profile) {
  const std::optional<NamePattern> program = pattern_of(options.program), thread = pattern_of(options.thread),
                                   group = pattern_of(options.group);
  std::optional<Profile> chosen = chosen_scopes(*profile, {.program = program ? &*program : nullptr,
                                                           .thread = thread ? &*thread : nullptr,
                                                           .group = group ? &*group : nullptr});
  if (!chosen) {
    const Grouping by = grouping_for(options);
    complain("no {} matches; pctally report --by {} lists them",
             by == Grouping::kGroup ? "control group" : grouping_word(by), grouping_word(by));
    return kExitInput;
  }
  *profile = std::move(*chosen);
  return std::nullopt;
}

}  // namespace pctally
