// Our own lines: to stderr, each starting "pctally: ", control bytes made harmless.
#pragma once
#include <fmt/format.h>

#include <string>

namespace pctally {

/// Silences inform(); errors are always said.
void be_quiet();

void say_line(const std::string& text, bool error);

template <class... Arguments>
void inform(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), false);
}

template <class... Arguments>
void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), true);
}

class Notices;

/// Where a recording's lines go: to the same place as ours.
Notices& recorder_notices();

/// A line that the next one overwrites; only where stderr is a terminal and stdout is not.
void show_progress(const std::string& text);

}  // namespace pctally
