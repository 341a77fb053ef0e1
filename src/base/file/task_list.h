// The threads of a process, as a directory /proc/PID/task lists them.
#pragma once
#include <sys/types.h>

#include "base/file/mapped_array.h"
#include "base/status.h"
#include "base/unique_fd.h"

namespace pctally {

/// Adds the numbers in an open directory to *threads, in the order of the kernel. Allocates by mmap only.
Status list_tasks(const UniqueFd& directory, MappedArray<pid_t>* threads) noexcept;

}  // namespace pctally
