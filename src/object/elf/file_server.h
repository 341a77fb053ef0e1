// File systems whose files come from a server: of a network, or a process (FUSE). A dead server holds
// whoever opens a file in the kernel, where no signal reaches it.
#pragma once
#include <functional>
#include <string>

namespace pctally {

/// Whether `read`, which opens and reads `path`, would come to an end. True where the file system has no
/// server. Where it has, a child process does it, once for each mount; if that has not ended after
/// kServerPatienceMs, it is left behind in the kernel, and the answer is false from then on. Links in `path`
/// are not followed: a path as the kernel names it has none. One thread at a time.
bool file_server_answers(const std::string& path, const std::function<void()>& read);

inline constexpr int kServerPatienceMs = 3000;

}  // namespace pctally
