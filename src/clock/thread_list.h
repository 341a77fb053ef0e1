// The threads of this process, as the kernel lists them.
#pragma once
#include <sys/types.h>

#include "base/mapped_array.h"
#include "base/status.h"

namespace pctally {

/// Reads /proc/self/task into *threads, in the order of the kernel. Allocates by mmap only.
Status list_threads(MappedArray<pid_t>* threads) noexcept;

/// How many there are: one system call, to see whether a new list is worth reading. 0 without /proc.
unsigned count_threads() noexcept;

}  // namespace pctally
