#include "base/kernel_setting.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/unique_fd.h"

namespace pctally {

long kernel_setting(const char* path, long otherwise) noexcept {
  UniqueFd fd(open(path, O_RDONLY | O_CLOEXEC));
  char text[32] = {};
  if (!fd.valid() || read(fd.get(), text, sizeof text - 1) <= 0) return otherwise;
  return strtol(text, nullptr, 10);
}

bool read_boot_id(uint8_t (*id)[16]) noexcept {
  UniqueFd fd(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[64];
  const ssize_t bytes = fd.valid() ? read(fd.get(), text, sizeof text) : -1;
  return bytes > 0 && from_hex(text, static_cast<size_t>(bytes), *id, sizeof *id) == sizeof *id;
}

}  // namespace pctally
