#include "report/html/texts.h"

#include "report/print/directories.h"
#include "report/print/escape.h"

namespace pctally {

std::string Texts::shown(std::string_view text) const {
  return escaped(strip_paths_ ? text_without_directories(text) : text);
}

int64_t Texts::number(std::string_view text) {
  const auto [entry, fresh] = known_.try_emplace(std::string(text), static_cast<int64_t>(texts_.size()));
  if (fresh) texts_.push_back(shown(text));
  return entry->second;
}

}  // namespace pctally
