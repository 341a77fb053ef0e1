#include "clock/thread_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc_file.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr char kTasks[] = "/proc/self/task";

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

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Returns `listed` for a thread that has ended, or before Linux 4.1.
pid_t own_number(pid_t listed) noexcept {
  ProcStatus status;
  return read_proc_status(0, &status, listed) && status.inside != 0 ? status.inside : listed;
}

Status list_entries(const UniqueFd& fd, MappedArray<pid_t>* threads) noexcept {
  alignas(DirectoryEntry) char entries[4096];
  for (;;) {
    long bytes = syscall(SYS_getdents64, fd.get(), entries, sizeof entries);
    if (bytes < 0) return {errno, "/proc/self/task:"};
    if (bytes == 0) return {};
    if (!add_entries(entries, bytes, threads)) return {ENOMEM, "no memory for the list of threads"};
  }
}

}  // namespace

bool contains(const MappedArray<pid_t>& threads, pid_t thread) noexcept {
  for (const pid_t listed : threads)
    if (listed == thread) return true;
  return false;
}

Status list_threads(MappedArray<pid_t>* threads) noexcept {
  threads->clear();
  const UniqueFd fd(open(kTasks, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    if (!threads->push_back(this_thread())) return {ENOMEM, "no memory for the list of threads"};
    return {};
  }
  auto listed = list_entries(fd, threads);
  if (!listed || (contains(*threads, getpid()) && contains(*threads, this_thread()))) return listed;
  for (pid_t& thread : *threads) thread = own_number(thread);
  return {};
}

unsigned count_threads() noexcept {
  struct stat directory;
  if (stat(kTasks, &directory) != 0 || directory.st_nlink < 2) return 0;
  return static_cast<unsigned>(directory.st_nlink) - 2;
}

}  // namespace pctally
