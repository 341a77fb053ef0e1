#include "base/result.h"

#include <stdarg.h>
#include <stdio.h>

namespace pctally {

std::unexpected<Error> fail(int code, const char* format, ...) noexcept {
  Error error;
  error.code = code;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error.text, sizeof error.text, format, arguments);
  va_end(arguments);
  return std::unexpected(error);
}

}  // namespace pctally
