#include "report/names/name_pattern.h"

#include <errno.h>

#include <algorithm>

namespace pctally {

Result<NamePattern> NamePattern::compile(const std::string& pattern) {
  auto is_capital = [](char byte) { return byte >= 'A' && byte <= 'Z'; };
  const bool exact = std::any_of(pattern.begin(), pattern.end(), is_capital);
  auto regex = std::make_unique<regex_t>();
  int code = regcomp(regex.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB | (exact ? 0 : REG_ICASE));
  if (code != 0) {
    char why[128];
    regerror(code, regex.get(), why, sizeof why);
    return fail(EINVAL, "not a regular expression (%s)", why);
  }
  NamePattern result;
  result.regex_.reset(regex.release());
  return result;
}

bool NamePattern::matches(const std::string& name) const {
  return regexec(regex_.get(), name.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace pctally
