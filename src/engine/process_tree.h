// The living descendants of a process, as /proc tells it.
#pragma once
#include <sys/types.h>

#include <vector>

namespace pctally {

/// `root` and every living descendant of it, parents first. Empty if it is gone. A process that comes or goes
/// meanwhile may be missing: ask again.
std::vector<pid_t> process_tree(pid_t root);

}  // namespace pctally
