// Reads settings of the kernel from /proc/sys.
#pragma once
#include <stdint.h>

namespace pctally {

/// The number at the start of the file; `otherwise` if there is none.
long kernel_setting(const char* path, long otherwise) noexcept;

/// The id of this boot; false if it cannot be known.
bool read_boot_id(uint8_t (*id)[16]) noexcept;

}  // namespace pctally
