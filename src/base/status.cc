#include "base/status.h"

#include <string.h>

namespace pctally {

Result<void> explained(Status status) noexcept {
  if (status) return {};
  const size_t length = strlen(status.cause());
  const bool of_call = length != 0 && status.cause()[length - 1] == ':';
  return of_call ? fail(status.error(), "%s %s", status.cause(), strerror(status.error()))
                 : fail(status.error(), "%s", status.cause());
}

}  // namespace pctally
