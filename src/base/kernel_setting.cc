#include "base/kernel_setting.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace pctally {

long kernel_setting(const char* path, long otherwise) noexcept {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  char text[32] = {};
  if (!fd.valid() || read(fd.get(), text, sizeof text - 1) <= 0) return otherwise;
  return strtol(text, nullptr, 10);
}

}  // namespace pctally
