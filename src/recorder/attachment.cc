#include "recorder/attachment.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "perf/descriptor_limit.h"
#include "perf/process_tree.h"
#include "recorder/signals.h"

namespace pctally {
namespace {

bool is_ready(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, 0) > 0;
}

/// Left for what a recording opens after its processes: files, clocks, rings.
constexpr size_t kFewestDescriptors = 8;

}  // namespace

Result<void> Attachment::add(pid_t pid) {
  UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  int error = errno;
  if (!fd.valid() && error == EMFILE) return too_many_files();
  if (pid_t process = process_of_thread(pid); !fd.valid() && process != pid && process > 0)
    return fail(EINVAL, "%d is a thread of process %d; use -p %d, which records all its threads", pid,
                process, process);
  if (!fd.valid() && error == ESRCH) return fail(error, "process %d does not exist; it may have ended", pid);
  if (!fd.valid()) return fail(error, "process %d: %s", pid, strerror(error));
  if (is_ready(fd.get())) return fail(ESRCH, "process %d has ended, and its parent has not asked how", pid);
  processes_.push_back(std::move(fd));
  return {};
}

Result<Attachment> Attachment::open(std::vector<pid_t>* processes, const std::vector<pid_t>& needed) {
  Attachment attachment;
  Result<void> added;
  std::vector<pid_t> left;
  for (pid_t pid : *processes) {
    added = attachment.add(pid);
    const bool ended = !added && added.error().code == ESRCH;
    if (!added && (!ended || std::ranges::find(needed, pid) != needed.end()))
      return std::unexpected(added.error());
    if (added) left.push_back(pid);
  }
  if (left.empty() && !added) return std::unexpected(added.error());
  *processes = std::move(left);
  if (!has_descriptors_left(kFewestDescriptors)) return too_many_files();
  const sigset_t set = ending_signals();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  auto signals = open_signals(set);
  if (!signals) return std::unexpected(signals.error());
  attachment.signals_ = std::move(*signals);
  return attachment;
}

std::vector<int> Attachment::descriptors() const {
  std::vector<int> descriptors = {signals_.get()};
  if (processes_.size() == 1) descriptors.push_back(processes_[0].get());
  return descriptors;
}

bool Attachment::ended() {
  signalfd_siginfo info;  // taken, so that a second signal is a sign that the first did not help
  while (read(signals_.get(), &info, sizeof info) == sizeof info) interrupted_ = true;
  bool all_gone = !processes_.empty() && std::all_of(processes_.begin(), processes_.end(),
                                                     [](const UniqueFd& fd) { return is_ready(fd.get()); });
  return interrupted_ || all_gone;
}

}  // namespace pctally
