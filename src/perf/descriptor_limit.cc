#include "perf/descriptor_limit.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <vector>

#include "base/unique_fd.h"

namespace pctally {
namespace {

rlim_t g_before = 0;
bool g_raised = false;

}  // namespace

void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  if (!g_raised) g_before = limit.rlim_cur;
  g_raised = true;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void restore_descriptor_limit() noexcept {
  rlimit limit{};
  if (!g_raised || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = g_before;
  setrlimit(RLIMIT_NOFILE, &limit);
}

bool has_descriptors_left(size_t count) {
  const UniqueFd any(open("/", O_PATH | O_CLOEXEC));
  std::vector<UniqueFd> more;
  for (size_t i = 1; i < count && any.valid(); ++i) {
    more.emplace_back(fcntl(any.get(), F_DUPFD_CLOEXEC, 0));
    if (!more.back().valid()) return false;
  }
  return any.valid();
}

}  // namespace pctally
