// The messages of a recording to its user. The tool decides where the lines go.
#pragma once
#include <fmt/format.h>

#include <string>

namespace pctally {

enum class Importance : unsigned char {
  kDetail,   ///< for those who ask for it (-v)
  kNormal,   ///< unless silence was asked for (-q)
  kWarning,  ///< the same, and marked as a warning
  kError,    ///< always
};

class Notices {
 public:
  virtual ~Notices() = default;

  /// One line, without its end.
  virtual void line(const std::string& text, Importance importance) = 0;

  /// How far the recording is: replaces what was shown before. Empty: it has ended.
  virtual void progress(const std::string& text) = 0;

  template <class... Arguments>
  void explain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kDetail);
  }

  template <class... Arguments>
  void inform(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kNormal);
  }

  template <class... Arguments>
  void warn(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    line(fmt::format(format, std::forward<Arguments>(arguments)...), Importance::kWarning);
  }
};

}  // namespace pctally
