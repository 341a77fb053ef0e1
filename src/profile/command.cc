#include "profile/command.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/base_name.h"

namespace pctally {
namespace {

/// Whether a shell reads something else: bash and zsh expand {a,b}, !event and =command, too.
bool needs_quotes(const std::string& argument) {
  return argument.empty() || argument[0] == '=' ||
         argument.find_first_of(" \t\r\n'\"\\$&|;<>()*?[]{}#~`!^") != std::string::npos;
}

/// What is observed where there is no command: "@machine", "@cgroup" and its directory, "@running" and
/// PID:COMM.
std::string target_text(const std::vector<std::string>& words) {
  if (words[0] == "@machine") return "(the whole machine)";
  const bool is_group = words[0] == "@cgroup";
  std::string text = is_group ? "(control group" : words.size() == 2 ? "(process" : "(processes";
  for (size_t i = 1; i < words.size(); ++i) {
    std::string word = words[i];
    if (const size_t colon = word.find(':'); !is_group && colon != std::string::npos) word[colon] = ' ';
    text.append(i == 1 ? " " : ", ").append(word);
  }
  return text + ")";
}

/// The same in short: "machine", the directory's own name, or the programs'.
std::string target_name(const std::vector<std::string>& words) {
  std::string name;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[0] == "@cgroup" ? base_name(words[i]) : words[i];
    const size_t colon = words[0] == "@cgroup" ? std::string_view::npos : word.find(':');
    name.append(i == 1 ? "" : ", ").append(colon == std::string_view::npos ? word : word.substr(colon + 1));
  }
  return name.empty() ? words[0].substr(1) : name;
}

/// "sqlite3, xz, python3, 2 more"; empty if no run has a command.
std::string programs_of(const std::vector<ProfileRun>& runs) {
  constexpr size_t kMost = 3;
  std::vector<std::string> names;
  for (const ProfileRun& run : runs) {
    if (run.command.empty()) continue;
    std::string name(base_name(run.command[0]));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  const size_t shown = names.size() <= kMost + 1 ? names.size() : kMost;
  std::string text;
  for (size_t i = 0; i < shown; ++i) text.append(i == 0 ? "" : ", ").append(names[i]);
  return shown == names.size() ? text : text + ", " + std::to_string(names.size() - shown) + " more";
}

}  // namespace

bool is_command(const std::vector<std::string>& words) {
  return !words.empty() && !words[0].starts_with('@');
}

bool has_command(const Profile& profile) { return is_command(profile.command); }

std::vector<std::vector<std::string>> commands_of(const Profile& profile) {
  std::vector<std::vector<std::string>> commands;
  std::set<std::vector<std::string>> known;
  const auto add = [&](const ProfileRun& run) {
    if (!run.command.empty() && known.insert(run.command).second) commands.push_back(run.command);
  };
  if (profile.runs.empty()) add(profile);
  for (const ProfileRun& run : profile.runs) add(run);
  return commands;
}

std::string shell_word(const std::string& argument) {
  if (!needs_quotes(argument)) return argument;
  std::string result = "'";
  for (char byte : argument) {
    if (byte == '\'')
      result.append("'\\''");
    else
      result.append(1, byte);
  }
  return result.append("'");
}

std::string file_word(const std::string& path) {
  return shell_word(path.starts_with('-') ? "./" + path : path);
}

std::string command_line(const std::vector<std::string>& words) {
  if (!words.empty() && !is_command(words)) return target_text(words);
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(shell_word(word));
  return line;
}

std::string command_line(const Profile& profile) { return command_line(profile.command); }

std::string program_name(const Profile& profile) {
  const std::vector<std::string>& words = profile.command;
  if (has_command(profile)) return std::string(base_name(words[0]));
  if (!words.empty()) return target_name(words);
  if (std::string programs = programs_of(profile.runs); !programs.empty()) return programs;
  return profile.processes.empty() ? "(program not recorded)" : profile.processes[0].comm;
}

}  // namespace pctally
