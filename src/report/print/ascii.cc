#include "report/print/ascii.h"

#include <stdlib.h>
#include <strings.h>

namespace pctally {
namespace {

struct Sign {
  std::string_view utf8, ascii;
};

// The first that fits is taken: in the titles of columns blanks stand before "±".
constexpr Sign kSigns[] = {{"  ±", " +-"}, {"±", "+-"},  {"…", "..."}, {"▲", "^"},
                           {"▼", "v"},     {"├ ", "|-"}, {"└ ", "`-"}, {"│", "|"}};

const Sign* sign_at(std::string_view text) {
  for (const Sign& sign : kSigns)
    if (text.starts_with(sign.utf8)) return &sign;
  return nullptr;
}

}  // namespace

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = getenv(name);
    if (value == nullptr || *value == 0) continue;
    const std::string_view locale = value;
    const size_t dot = locale.find('.');
    if (dot == std::string_view::npos) return false;
    const std::string charset(locale.substr(dot + 1, locale.find('@') - dot - 1));
    return strcasecmp(charset.c_str(), "UTF-8") == 0 || strcasecmp(charset.c_str(), "utf8") == 0;
  }
  return false;
}

std::string in_ascii(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Sign* sign = sign_at(text);
    result += sign == nullptr ? text.substr(0, 1) : sign->ascii;
    text.remove_prefix(sign == nullptr ? 1 : sign->utf8.size());
  }
  return result;
}

}  // namespace pctally
