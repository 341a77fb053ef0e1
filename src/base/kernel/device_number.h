// The number by which profile files and perf's records know a device.
#pragma once
#include <stdint.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

namespace pctally {

/// major << 32 | minor
inline uint64_t device_number(dev_t device) noexcept { return uint64_t{major(device)} << 32 | minor(device); }

}  // namespace pctally
