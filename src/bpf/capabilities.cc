#include "bpf/capabilities.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pctally {
namespace {

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#endif

bool has(const __user_cap_data_struct* sets, unsigned capability) noexcept {
  return (sets[capability / 32].effective >> (capability % 32) & 1) != 0;
}

}  // namespace

std::string missing_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, sets) != 0 || has(sets, CAP_SYS_ADMIN)) return "";
  std::string missing;
  if (!has(sets, CAP_BPF)) missing = "CAP_BPF";
  if (!has(sets, CAP_PERFMON)) missing += missing.empty() ? "CAP_PERFMON" : ", CAP_PERFMON";
  return missing;
}

Result<void> drop_capabilities(bool but_kill) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, sets) != 0) return fail(errno, "capget: %s", strerror(errno));
  const uint32_t kept = but_kill ? sets[0].permitted & 1u << CAP_KILL : 0;
  sets[0] = {kept, kept, 0};
  sets[1] = {};
  if (syscall(SYS_capset, &header, sets) != 0) return fail(errno, "capset: %s", strerror(errno));
  return {};
}

}  // namespace pctally
