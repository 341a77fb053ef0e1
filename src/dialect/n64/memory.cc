#include "dialect/n64/memory.h"

#include <fcntl.h>

namespace pctally::n64 {

UserMemory::UserMemory() noexcept { renew(); }

void UserMemory::renew() noexcept {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) ends[0] = ends[1] = -1;
  out_.reset(ends[0]);
  in_.reset(ends[1]);
}

MemoryRead UserMemory::read(const void* from, void* to, size_t bytes) noexcept {
  constexpr size_t kStep = 2048;  // fits in the smallest pipe the kernel makes
  if (!in_.valid()) renew();
  if (!in_.valid()) return MemoryRead::kNoPipe;
  for (size_t at = 0; at < bytes; at += kStep) {
    size_t step = bytes - at < kStep ? bytes - at : kStep;
    auto whole = static_cast<ssize_t>(step);
    if (write(in_.get(), static_cast<const char*>(from) + at, step) == whole &&
        ::read(out_.get(), static_cast<char*>(to) + at, step) == whole)
      continue;
    renew();  // a remainder may be left in this one
    return MemoryRead::kGone;
  }
  return MemoryRead::kDone;
}

}  // namespace pctally::n64
