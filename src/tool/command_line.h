// How every subcommand reads its command line.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace pctally {

/// An exit code if the command line ends here: help was asked for, or it is wrong and a line says so.
std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

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

}  // namespace pctally
