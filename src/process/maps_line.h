// A line of /proc/PID/maps. Does not read the file.
#pragma once
#include <stdint.h>

namespace pctally {

struct MapsLine {
  uint64_t start = 0, end = 0, offset = 0, device = 0, inode = 0;
  bool executable = false;
  const char* path = "";  ///< in the line, as the kernel writes it; empty: it has none
};

/// "start-end perms offset major:minor inode   path", without the end of the line. Whatever else it is, the
/// fields are some.
MapsLine parse_maps_line(const char* line) noexcept;

}  // namespace pctally
