#include "recorder/engine/trusted_processes.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "base/kernel/proc_file.h"
#include "perf/process_tree.h"

namespace pctally {
namespace {

bool has_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, data) != 0) return true;
  return std::any_of(std::begin(data), std::end(data), [](const auto& word) { return word.effective != 0; });
}

}  // namespace

bool has_our_user(pid_t pid) {
  ProcStatus status;
  if (!read_proc_status(pid, &status)) return true;
  return std::all_of(std::begin(status.users), std::end(status.users),
                     [](uid_t user) { return user == geteuid(); });
}

TrustedProcesses::TrustedProcesses(pid_t root) : root_(root), privileged_(has_capabilities()) {}

void TrustedProcesses::refresh() {
  if (!privileged_) return;
  tree_ = process_tree(root_);
  mixed_ = mixed_ || !std::all_of(tree_.begin(), tree_.end(), has_our_user);
}

bool TrustedProcesses::in_tree(pid_t pid) const {
  if (pid <= 0 || pid == getpid()) return false;
  return !privileged_ || std::find(tree_.begin(), tree_.end(), pid) != tree_.end();
}

bool TrustedProcesses::holds(pid_t pid) const { return !mixed_ && in_tree(pid); }

}  // namespace pctally
