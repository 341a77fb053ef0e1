#include "tool/gperf/peer.h"

#include <errno.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>

#include "dialect/n64/loopback.h"
#include "dialect/n64/socket.h"

namespace pctally {
namespace {

namespace fs = std::filesystem;

pid_t pid_of(const std::string& name) {
  pid_t pid = 0;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  return error == std::errc() && end == name.data() + name.size() ? pid : 0;
}

/// Descriptors of other users' processes cannot be read, and theirs are not wanted.
bool has_open(const fs::path& process, const std::string& link) {
  std::error_code error;
  for (fs::directory_iterator fd(process / "fd", error), end; !error && fd != end; fd.increment(error)) {
    std::error_code gone;
    if (fs::read_symlink(fd->path(), gone) == link && !gone) return true;
  }
  return false;
}

Result<pid_t> owner_of_socket(uint64_t inode) {
  std::string link = fmt::format("socket:[{}]", inode);
  std::error_code error;
  for (fs::directory_iterator process("/proc", error), end; !error && process != end;
       process.increment(error)) {
    pid_t pid = pid_of(process->path().filename());
    if (pid != 0 && has_open(process->path(), link)) return pid;
  }
  return fail(ESRCH, "no process of this user has the other side of the connection");
}

}  // namespace

Result<pid_t> gperf_peer(int socket) {
  if (n64::port_of(socket) == 0) return n64::peer(socket);
  auto other = n64::loopback_peer(socket);
  if (!other) return std::unexpected(other.error());
  return owner_of_socket(other->inode);
}

}  // namespace pctally
