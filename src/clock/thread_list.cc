#include "clock/thread_list.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file/task_list.h"
#include "base/kernel/proc_file.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr char kTasks[] = "/proc/self/task";

pid_t this_thread() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

/// Returns `listed` for a thread that has ended, or before Linux 4.1.
pid_t own_number(pid_t listed) noexcept {
  ProcStatus status;
  return read_proc_status(0, &status, listed) && status.inside != 0 ? status.inside : listed;
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
  auto listed = list_tasks(fd, threads);
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
