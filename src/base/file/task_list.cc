#include "base/file/task_list.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pctally {
namespace {

/// What getdents64(2) writes; readdir(3) would allocate.
struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

bool add_entries(const char* entries, long bytes, MappedArray<pid_t>* threads) noexcept {
  for (long at = 0; at < bytes;) {
    const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
    pid_t thread = atoi(entry->name);
    if (thread > 0 && !threads->push_back(thread)) return false;
    at += entry->bytes;
  }
  return true;
}

}  // namespace

Status list_tasks(const UniqueFd& directory, MappedArray<pid_t>* threads) noexcept {
  alignas(DirectoryEntry) char entries[4096];
  for (;;) {
    long bytes = syscall(SYS_getdents64, directory.get(), entries, sizeof entries);
    if (bytes < 0) return {errno, "/proc/self/task:"};
    if (bytes == 0) return {};
    if (!add_entries(entries, bytes, threads)) return {ENOMEM, "no memory for the list of threads"};
  }
}

}  // namespace pctally
