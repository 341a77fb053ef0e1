#include "report/html/texts.h"

#include "report/print/escape.h"

namespace pctally {
namespace {

/// What a path may stand behind.
bool is_before_path(char byte) {
  return std::string_view(" \t\n\"'(=:,;<[").find(byte) != std::string_view::npos;
}

/// Behind the path that begins at `at`; names with blanks are cut at the blank.
size_t end_of_path(std::string_view text, size_t at) {
  return std::min(text.find_first_of(" \t\n\"'(),;<>:]", at), text.size());
}

}  // namespace

std::string text_without_directories(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '/' || (at != 0 && !is_before_path(text[at - 1]))) {
      result.push_back(text[at++]);
      continue;
    }
    const size_t end = end_of_path(text, at);
    const size_t slash = text.substr(at, end - at).rfind('/');
    result.append(text.substr(at + slash + 1, end - at - slash - 1));
    at = end;
  }
  return result;
}

std::string Texts::shown(std::string_view text) const {
  return escaped(strip_paths_ ? text_without_directories(text) : text);
}

int64_t Texts::number(std::string_view text) {
  const auto [entry, fresh] = known_.try_emplace(std::string(text), static_cast<int64_t>(texts_.size()));
  if (fresh) texts_.push_back(shown(text));
  return entry->second;
}

}  // namespace pctally
