#include "base/kernel/kernel_setting.h"

#include <stdlib.h>

#include "base/hex.h"
#include "base/kernel/proc_file.h"

namespace pctally {

long kernel_setting(const char* path, long otherwise) noexcept {
  char text[32];
  if (read_proc_file(path, text, sizeof text) == 0) return otherwise;
  return strtol(text, nullptr, 10);
}

bool read_boot_id(uint8_t (*id)[16]) noexcept {
  char text[64];
  const size_t bytes = read_proc_file("/proc/sys/kernel/random/boot_id", text, sizeof text);
  return bytes > 0 && from_hex(text, bytes, *id, sizeof *id) == sizeof *id;
}

}  // namespace pctally
