// The program's memory, read by way of a pipe: what has been taken away meanwhile is an answer, not a fault.
#pragma once
#include <stddef.h>

#include "base/unique_fd.h"

namespace pctally::n64 {

/// One thread, whatever signals it blocks.
class UserMemory {
 public:
  UserMemory() noexcept;

  /// False if not all of it can be read, or no pipe is to be had.
  bool read(const void* from, void* to, size_t bytes) noexcept;

 private:
  void renew() noexcept;

  UniqueFd in_, out_;
};

}  // namespace pctally::n64
