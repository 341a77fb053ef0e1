// Shared by the subcommands: checks of words, options that several have, and the writing of output.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tool/option_parser.h"

namespace pctally {

/// Decimal digits alone, and at least one.
bool is_number(const std::string& word);

/// Accepts a number from `low` to `high`.
WordCheck number_from_to(double low, double high);

/// Accepts a whole number from `low` to `high`, in decimal digits.
WordCheck whole_number_from_to(uint64_t low, uint64_t high);

/// Accepts a number of rows: empty, or what is wrong with `word`.
std::string number_of_rows(const std::string& word);

/// "512K", "1.5M", "2G" or "4096" in bytes; 0 if it is none of these, or has no room in 64 bits.
uint64_t bytes_of(const std::string& text);

/// Accepts one of a few words.
WordCheck one_of(std::vector<std::string> words);

/// Accepts the path of a file that a profile can be written to: a new one, or a regular one.
std::string profile_to_write(const std::string& path);

/// "--names short|full|linkage": how functions are called.
void add_names_option(OptionParser& app, std::string& names);

/// "--by function|object|line|process|command|program": what a row stands for, in a comparison.
void add_by_option(OptionParser& app, std::string& by);

/// "function, object or line"
std::string listed(const std::vector<std::string>& words);

/// From now on a write to a pipe that nobody reads, or beyond the limit of a file's size, is an
/// error with a line that says so, not the end of this program. A program executed later inherits
/// that: see let_writes_kill().
void let_writes_fail();

/// Undoes let_writes_fail().
void let_writes_kill();

/// Whether standard output gets colours: `when` is "auto" (a terminal that has them; NO_COLOR and
/// CLICOLOR_FORCE are honoured), "always" or "never".
bool wants_color(const std::string& when);

/// Columns that a message may take.
inline constexpr size_t kLongestMessage = 120;

/// What --object narrows a search to, behind what is searched; empty if it is not given.
std::string of_objects(const std::string& object);

/// Says that a function was found by a part of its name: another one may have been meant. `which`: those
/// that were searched.
void say_part(const std::string& which, const std::string& asked, const std::string& found);

/// A line if a profile is damaged (`damage`: Profile::damage), and so is what comes of it.
void name_damage(const std::vector<std::string>& damage, const std::string& file);

/// `code`; of a damaged profile never 0.
int exit_code_of(bool is_damaged, int code);

/// Columns of the terminal that is standard output; 0 if it is none.
size_t terminal_width();

/// A text for people, in the characters that the locale has: its signs stay UTF-8, or become ASCII.
std::string in_locale(std::string text);

/// All of it to standard output. The exit code: kExitFailed, with a line on stderr, if that could
/// not be done.
int write_out(std::string_view text);

/// The same into a file. One that exists is replaced once the new one is whole: a full disk leaves it as it
/// was. A profile, and what a profile was read from, is not replaced.
int write_file(const std::string& path, const std::string& bytes);

}  // namespace pctally
