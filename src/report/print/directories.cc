#include "report/print/directories.h"

#include <algorithm>

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

size_t first_path(std::string_view text, size_t from) {
  for (size_t at = text.find('/', from); at != std::string_view::npos; at = text.find('/', at + 1))
    if ((at == 0 || is_before_path(text[at - 1])) && end_of_path(text, at) - at > 1) return at;
  return std::string_view::npos;
}

std::string text_without_directories(std::string_view text) {
  std::string result;
  size_t done = 0;
  for (size_t at = first_path(text, 0); at != std::string_view::npos; at = first_path(text, done)) {
    const size_t end = end_of_path(text, at);
    const size_t name = text.substr(0, end).rfind('/') + 1;
    result.append(text.substr(done, at - done)).append(text.substr(name, end - name));
    done = end;
  }
  return result.append(text.substr(done));
}

}  // namespace pctally
