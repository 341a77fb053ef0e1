// What was recorded, in words: the command, or what was observed without one.
#pragma once
#include <string>
#include <vector>

#include "profile/profile.h"

namespace pctally {

/// False of running processes, a control group or the machine, and where it was not recorded.
bool has_command(const Profile& profile);
bool is_command(const std::vector<std::string>& words);

/// The words of each run that has some, of a merged profile too, each command once; with is_command() or not.
std::vector<std::vector<std::string>> commands_of(const Profile& profile);

/// The command as a person would type it; arguments with blanks or quotes in single quotes. Not escaped.
std::string command_line(const Profile& profile);
std::string command_line(const std::vector<std::string>& words);

/// A word as a shell takes it: quoted where it has to be.
std::string shell_word(const std::string& word);

/// A file's name as a shell and a command line take it: one that begins with "-" would be an option.
std::string file_word(const std::string& path);

/// What ran, for titles and as the root of exported stacks: the command without its directory and arguments;
/// of several runs up to three of them; else the first process, else "(program not recorded)". Not escaped.
std::string program_name(const Profile& profile);

}  // namespace pctally
