// A pattern that names are searched for: an extended regular expression of POSIX. One without a capital
// letter also finds capitals.
#pragma once
#include <regex.h>

#include <memory>
#include <string>

#include "base/result.h"

namespace pctally {

class NamePattern {
 public:
  /// Error: EINVAL with what is wrong.
  static Result<NamePattern> compile(const std::string& pattern);

  /// Whether it is found anywhere in `name`.
  [[nodiscard]] bool matches(const std::string& name) const;

 private:
  struct Free {
    void operator()(regex_t* regex) const {
      regfree(regex);
      delete regex;
    }
  };
  std::unique_ptr<regex_t, Free> regex_;
};

}  // namespace pctally
