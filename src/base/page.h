// The smallest page of memory of the machines we run on and read files of: what is rounded to it, or compared
// by it, never reaches beyond a page of theirs. Memory that is mapped needs the machine's own, of sysconf(3).
#pragma once
#include <stdint.h>

namespace pctally {

inline constexpr uint64_t kSmallestPageBytes = 4096;

constexpr uint64_t page_start(uint64_t position) noexcept { return position & ~(kSmallestPageBytes - 1); }
constexpr uint64_t page_end(uint64_t position) noexcept {
  return page_start(position + kSmallestPageBytes - 1);
}

}  // namespace pctally
