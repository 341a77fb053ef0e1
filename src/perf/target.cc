#include "perf/target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

namespace pctally {

Result<UniqueFd> Target::open_cgroup() const {
  UniqueFd directory(open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) return directory;
  return fail(errno, "%s: %s; give the control group's directory", cgroup.c_str(), strerror(errno));
}

}  // namespace pctally
