// The texts of a page: each written once and referred to by number. All are escaped for people here,
// and nowhere else.
#pragma once
#include <cstdint>

#include <string>
#include <string_view>
#include <unordered_map>

#include "report/print/json_value.h"

namespace pctally {

class Texts {
 public:
  /// `strip_paths`: of absolute paths the last part alone is kept.
  explicit Texts(bool strip_paths) : strip_paths_(strip_paths) { number(""); }

  /// "" is 0.
  int64_t number(std::string_view text);
  /// For paths of files and objects: a blank does not end such a path (`strip_paths`).
  int64_t number_of_path(std::string_view path);
  /// As it stands in the page.
  [[nodiscard]] std::string shown(std::string_view text) const;
  [[nodiscard]] std::string shown_path(std::string_view path) const;
  Json take() { return std::move(texts_); }

 private:
  bool strip_paths_;
  std::unordered_map<std::string, int64_t> known_, known_paths_;
  Json texts_ = Json::array();
};

}  // namespace pctally
