// How every subcommand reads its command line, and what it says about one that is wrong.
#pragma once
#include <CLI/CLI.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pctally {

/// What a subcommand knows better than the parser.
struct CommandLineHints {
  std::string surplus;                         ///< about a word too many, after it
  std::map<std::string, std::string> unknown;  ///< options it does not have, and what to say of them
  std::map<std::string, std::string> missing;  ///< options without their value: "--pid" and what to say
};

/// An exit code if the command line ends here: help was asked for, or it is wrong and a line says so.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv,
                                      const CommandLineHints& hints = {});

/// Says that `app` has no such option, and which one was probably meant. The exit code.
int complain_of_option(const CLI::App& app, const std::string& word, const CommandLineHints& hints);

/// Accepts a number from `low` to `high`.
CLI::Validator number_from_to(double low, double high);

/// Accepts one of a few words.
CLI::Validator one_of(std::vector<std::string> words);

/// "--names short|full|linkage": how functions are called.
void add_names_option(CLI::App& app, std::string& names);

/// "function, object or line"
std::string listed(const std::vector<std::string>& words);

/// From now on a write to a pipe that nobody reads, or beyond the limit of a file's size, is an error with a
/// line that says so, not the end of this program. A program executed later inherits that: see
/// let_writes_kill().
void let_writes_fail();

/// As it was.
void let_writes_kill();

/// Whether standard output gets colours: `when` is "auto" (a terminal that has them; NO_COLOR and
/// CLICOLOR_FORCE are honoured), "always" or "never".
bool wants_color(const std::string& when);

/// Columns of the terminal that is standard output; 0 if it is none.
size_t terminal_width();

/// All of it to standard output. The exit code: kExitFailed, with a line on stderr, if that could not be
/// done.
int write_out(std::string_view text);

/// The same into a file, which is replaced if it exists.
int write_file(const std::string& path, const std::string& bytes);

}  // namespace pctally
