// Reads the program's memory through a pipe: memory that is gone is an error of write(2), not a fault.
#pragma once
#include <stddef.h>

#include "base/unique_fd.h"

namespace pctally::n64 {

enum class MemoryRead : unsigned char {
  kDone,
  kGone,    ///< not all of it can be read
  kNoPipe,  ///< no descriptor was left: nothing is known of the memory
};

/// One thread, whatever signals it blocks.
class UserMemory {
 public:
  UserMemory() noexcept;

  [[nodiscard]] MemoryRead read(const void* from, void* to, size_t bytes) noexcept;

 private:
  void renew() noexcept;

  UniqueFd in_, out_;
};

}  // namespace pctally::n64
