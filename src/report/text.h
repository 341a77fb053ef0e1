// A Report as a table for people. Every name passes through escaped().
#pragma once
#include <cstddef>
#include <string>

#include "report/names/shown_names.h"
#include "report/rollup.h"

namespace pctally {

struct TextOptions {
  bool color = false;
  NameStyle names = NameStyle::kShort;
  size_t width = 0;          ///< of the terminal: names are elided to fit; 0: nothing is cut
  std::string hot_source{};  ///< the text of the hot line, if it is known
};

std::string text_report(const Profile& profile, const Report& report, const TextOptions& options);

/// The command as a person would type it; arguments with blanks or quotes in single quotes. Not escaped.
std::string command_line(const Profile& profile);

/// A word as a shell takes it: quoted where it has to be.
std::string shell_word(const std::string& word);

/// What ran, for titles and as the root of exported stacks: the command without its directory and arguments;
/// of several runs up to three of them; else the first process, else "(program not recorded)". Not escaped.
std::string program_name(const Profile& profile);

}  // namespace pctally
