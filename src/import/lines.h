// The lines of a text, one after the other.
#pragma once
#include <cstddef>
#include <string_view>

namespace pctally {

inline constexpr size_t kFirstLines = 64;  ///< that decide what a text is

class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  /// The next line without its end, and without a carriage return before it; false after the last.
  bool next(std::string_view* line) {
    if (at_ >= text_.size()) return false;
    const size_t end = text_.find('\n', at_);
    *line = text_.substr(at_, end == std::string_view::npos ? std::string_view::npos : end - at_);
    at_ += line->size() + 1;
    if (line->ends_with('\r')) line->remove_suffix(1);
    ++number_;
    return true;
  }
  /// The number of the line read last, from 1 on.
  [[nodiscard]] size_t number() const { return number_; }

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t number_ = 0;
};

}  // namespace pctally
