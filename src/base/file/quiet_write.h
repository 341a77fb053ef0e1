// Writes bytes of ours in a program that knows nothing of them: to a file at the limit of its size (ulimit
// -f), or a pipe that nobody reads any more. write(2) would send SIGXFSZ or SIGPIPE, which end the program.
#pragma once
#include <stddef.h>

namespace pctally {

/// write_all() whose failure is errno alone: the program sees no signal.
bool write_quietly(int fd, const void* bytes, size_t count) noexcept;

}  // namespace pctally
