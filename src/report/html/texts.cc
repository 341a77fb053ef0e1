#include "report/html/texts.h"

#include "base/base_name.h"
#include "report/print/directories.h"
#include "report/print/escape.h"

namespace pctally {

std::string Texts::shown(std::string_view text) const {
  return escaped(strip_paths_ ? text_without_directories(text) : text);
}

std::string Texts::shown_path(std::string_view path) const {
  return strip_paths_ && path.starts_with('/') ? escaped(base_name(path)) : shown(path);
}

int64_t Texts::number(std::string_view text) {
  const auto [entry, fresh] = known_.try_emplace(std::string(text), static_cast<int64_t>(texts_.size()));
  if (fresh) texts_.push_back(shown(text));
  return entry->second;
}

int64_t Texts::number_of_path(std::string_view path) {
  if (path.empty()) return 0;
  const auto [entry, fresh] =
      known_paths_.try_emplace(std::string(path), static_cast<int64_t>(texts_.size()));
  if (fresh) texts_.push_back(shown_path(path));
  return entry->second;
}

}  // namespace pctally
