#include "dialect/n64/socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pctally::n64 {
namespace {

using Path = char[sizeof sockaddr_un::sun_path];

std::unexpected<Error> failed(const char* call, const char* path) noexcept {
  int error = errno;
  return fail(error, "%s%s%s: %s", path, *path != '\0' ? ": " : "", call, strerror(error));
}

Result<UniqueFd> new_socket() noexcept {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return failed("socket", "");
  return socket;
}

sockaddr_un address_of(const char* path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  return address;
}

int bind_to(int socket, const char* path) noexcept {
  sockaddr_un address = address_of(path);
  return bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// A directory that somebody else made, may write to or has put a link in place of, is not used.
Result<void> make_private(const char* path) noexcept {
  if (mkdir(path, 0700) != 0 && errno != EEXIST) return failed("mkdir", path);
  struct stat status;
  if (lstat(path, &status) != 0) return failed("lstat", path);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0)
    return fail(EPERM, "%s is not a directory of this user alone (mode 0700); remove it", path);
  return {};
}

/// Gives a socket its name, which may be that of a socket that nobody listens to.
Result<void> take_name(const char* bound, const char* path) noexcept {
  if (link(bound, path) == 0) return {};
  if (errno != EEXIST) return failed("link", path);
  if (auto living = connect_to(path); living || living.error().code != ECONNREFUSED)
    return fail(EADDRINUSE, "%s: somebody listens there already", path);
  unlink(path);
  if (link(bound, path) != 0) return failed("link", path);
  return {};
}

/// The mode is the socket's before it has a name, and it listens before it has the name that others look for:
/// nobody can come in between, and who finds the name can connect. `own`: its name until then.
Result<UniqueFd> listen_in(const char* own, const char* path) noexcept {
  auto socket = new_socket();
  if (!socket) return socket;
  if (fchmod(socket->get(), 0600) != 0) return failed("fchmod", path);
  unlink(own);
  if (bind_to(socket->get(), own) != 0) return failed("bind", own);
  Result<void> named = listen(socket->get(), 8) == 0 ? take_name(own, path) : failed("listen", path);
  unlink(own);
  if (!named) return std::unexpected(named.error());
  return socket;
}

bool in_directory(unsigned number, const char* name, Path& path) noexcept {
  Path folder;
  if (!directory(number, folder)) return false;
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  return length > 0 && static_cast<size_t>(length) < sizeof path;
}

}  // namespace

bool directory(unsigned number, Path& path) noexcept {
  int length = -1;
  const char* runtime = secure_getenv("XDG_RUNTIME_DIR");
  if (number == 0 && runtime != nullptr && runtime[0] == '/')
    length = snprintf(path, sizeof path, "%s/pctally", runtime);
  if (number == 1) length = snprintf(path, sizeof path, "/tmp/pctally-%u", static_cast<unsigned>(geteuid()));
  return length > 0 && static_cast<size_t>(length) < sizeof path;
}

Result<UniqueFd> listen_in_directory(unsigned number, const char* name, Path& path) noexcept {
  Path folder, own;
  char own_name[16];
  snprintf(own_name, sizeof own_name, ".%d", getpid());
  path[0] = '\0';
  if (!directory(number, folder) || !in_directory(number, own_name, own) || !in_directory(number, name, path))
    return fail(ENAMETOOLONG, "no directory for sockets: XDG_RUNTIME_DIR is too long");
  auto made = make_private(folder);
  auto result = made ? listen_in(own, path) : std::unexpected(made.error());
  if (!result) path[0] = '\0';
  return result;
}

Result<UniqueFd> listen_at(const char* name, Path& path) noexcept {
  auto result = listen_in_directory(0, name, path);
  for (unsigned number = 1; number < kDirectories; ++number)
    if (!result && result.error().code != EADDRINUSE) result = listen_in_directory(number, name, path);
  return result;
}

Result<UniqueFd> connect_to(const char* path) noexcept {
  auto socket = new_socket();
  if (!socket) return socket;
  sockaddr_un address = address_of(path);
  if (connect(socket->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed("connect", path);
  if (auto other = peer(socket->get()); !other) return std::unexpected(other.error());
  return socket;
}

Result<pid_t> peer(int socket) noexcept {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return failed("SO_PEERCRED", "");
  if (credentials.uid != geteuid()) return fail(EPERM, "the other side belongs to another user");
  return credentials.pid;
}

}  // namespace pctally::n64
