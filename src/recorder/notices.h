// What a recording says to its user. The tool decides where the lines go.
#pragma once
#include <fmt/format.h>

#include <string>

namespace pctally {

class Notices {
 public:
  virtual ~Notices() = default;

  /// One line, without its end. `error`: said even where the user wants silence.
  virtual void line(const std::string& text, bool error) = 0;

  /// How far the recording is: replaces what was shown before.
  virtual void progress(const std::string& text) = 0;

  template <class... Arguments>
  void inform(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...), false);
  }

  template <class... Arguments>
  void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...), true);
  }
};

}  // namespace pctally
