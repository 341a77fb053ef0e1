// The threads of this process, as the kernel lists them.
#pragma once
#include <sys/types.h>

#include "base/file/mapped_array.h"
#include "base/status.h"

namespace pctally {

/// Reads /proc/self/task into *threads, in the kernel's order. The numbers are those that gettid(2) returns
/// in the threads, also where /proc is of another pid namespace. Where it cannot be opened (a child forked in
/// an empty root directory) the list has the calling thread alone. Allocates by mmap only.
Status list_threads(MappedArray<pid_t>* threads) noexcept;

bool contains(const MappedArray<pid_t>& threads, pid_t thread) noexcept;

/// How many there are: one system call, to see whether a new list is worth reading. 0 without /proc.
unsigned count_threads() noexcept;

}  // namespace pctally
