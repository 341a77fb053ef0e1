#include "dialect/caller_memory.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/futex.h"

namespace pctally {
namespace {

// The kernel accesses a word for us and returns EFAULT where we would fault. Futex calls need no file and
// no privilege, and sandboxes allow them. A wait with a timeout of 0 reads the word; a wake with "add 0"
// writes it atomically.
bool read_word(uintptr_t word) noexcept {
  long long no_time[2] = {0, 0};
  return syscall(kFutex, word, FUTEX_WAIT_PRIVATE, 0, no_time, nullptr, 0) == 0 || errno != EFAULT;
}

bool write_word(uintptr_t word) noexcept {
  static uint32_t nobody_waits_here = 0;
  long add_zero = FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LT, -2048);
  return syscall(kFutex, &nobody_waits_here, FUTEX_WAKE_OP_PRIVATE, 0, nullptr, word, add_zero) >= 0 ||
         errno != EFAULT;
}

/// `probe` for one aligned word in every page that has a byte of the range.
bool every_page(uintptr_t first, size_t bytes, bool (*probe)(uintptr_t)) noexcept {
  if (bytes == 0) return true;
  uintptr_t last = first + (bytes - 1), page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  if (last < first) return false;
  int error = errno;
  bool all = true;
  for (uintptr_t at = first; all; at = (at | (page - 1)) + 1) {
    all = probe(at & ~uintptr_t{3});
    if ((at | (page - 1)) >= last) break;
  }
  errno = error;
  return all;
}

}  // namespace

bool readable(const void* address, size_t bytes) noexcept {
  return every_page(reinterpret_cast<uintptr_t>(address), bytes, read_word);
}

bool writable(void* address, size_t bytes) noexcept {
  return every_page(reinterpret_cast<uintptr_t>(address), bytes, write_word);
}

}  // namespace pctally
