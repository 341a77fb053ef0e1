// Our own lines: to stderr, each starting "pctally: ", control bytes made harmless.
#pragma once
#include <fmt/format.h>

#include <string>

#include "recorder/notices.h"

namespace pctally {

/// Silences inform(), warn() and explain(); errors are always said.
void be_quiet();
[[nodiscard]] bool is_quiet();

/// Lets explain() speak.
void be_verbose();

void say_line(const std::string& text, Importance importance);

template <class... Arguments>
void inform(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kNormal);
}

/// What is of use to those alone who ask for it (-v).
template <class... Arguments>
void explain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kDetail);
}

template <class... Arguments>
void warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kWarning);
}

template <class... Arguments>
void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say_line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kError);
}

/// Where a recording's lines go: to the same place as ours.
Notices& recorder_notices();

}  // namespace pctally
