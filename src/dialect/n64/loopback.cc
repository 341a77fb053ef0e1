#include "dialect/n64/loopback.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace pctally::n64 {
namespace {

constexpr unsigned kEstablished = 1;
constexpr char kTable[] = "/proc/thread-self/net/tcp";  // that of this thread's network namespace
constexpr int kPauseMs = 5;

std::unexpected<Error> failed(const char* call, uint16_t port) noexcept {
  int error = errno;
  return fail(error, "127.0.0.1:%u: %s: %s", unsigned{port}, call, strerror(error));
}

sockaddr_in loopback(uint16_t port) noexcept {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

Result<UniqueFd> new_socket(uint16_t port) noexcept {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return failed("socket", port);
  int on = 1;  // an ACK of four bytes is not worth waiting for more
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

/// Lines of a file of any length, through a buffer of one size. A line that is longer is none.
class Lines {
 public:
  explicit Lines(const char* path) noexcept : file_(open(path, O_RDONLY | O_CLOEXEC)) {}

  /// The next line, its newline replaced by NUL; null at the end.
  const char* next() noexcept {
    for (;;) {
      char* end = static_cast<char*>(memchr(bytes_ + taken_, '\n', filled_ - taken_));
      if (end != nullptr) {
        const char* line = bytes_ + taken_;
        *end = '\0';
        taken_ = static_cast<size_t>(end + 1 - bytes_);
        return line;
      }
      if (!refill()) return nullptr;
    }
  }

 private:
  bool refill() noexcept {
    memmove(bytes_, bytes_ + taken_, filled_ - taken_);
    filled_ -= taken_;
    taken_ = 0;
    if (!file_.valid() || filled_ == sizeof bytes_) return false;
    ssize_t got = read(file_.get(), bytes_ + filled_, sizeof bytes_ - filled_);
    if (got <= 0) return false;
    filled_ += static_cast<size_t>(got);
    return true;
  }

  UniqueFd file_;
  char bytes_[4096];
  size_t taken_ = 0, filled_ = 0;
};

/// The row of the other end: its local side is our remote one.
bool find_other_end(const sockaddr_in& ours, const sockaddr_in& theirs, TcpRow* row) noexcept {
  Lines lines(kTable);
  while (const char* line = lines.next())
    if (parse_tcp_row(line, row) && row->local_address == theirs.sin_addr.s_addr &&
        row->local_port == ntohs(theirs.sin_port) && row->remote_address == ours.sin_addr.s_addr &&
        row->remote_port == ntohs(ours.sin_port))
      return true;
  return false;
}

int64_t now_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

/// After a connect that was not finished at once.
Result<void> finish_connect(int socket, uint16_t port, int64_t deadline) noexcept {
  pollfd waiting{socket, POLLOUT, 0};
  int64_t left = deadline - now_ms();
  if (poll(&waiting, 1, left > 0 ? static_cast<int>(left) : 0) <= 0)
    return fail(ETIMEDOUT, "127.0.0.1:%u: nobody takes the connection", unsigned{port});
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) return failed("SO_ERROR", port);
  errno = error;
  return error == 0 ? Result<void>{} : failed("connect", port);
}

}  // namespace

uint16_t loopback_port(const char* variable) noexcept {
  const char* value = secure_getenv(variable);
  if (value == nullptr || strncmp(value, "tcp:", 4) != 0) return 0;
  char* end = nullptr;
  unsigned long port = strtoul(value + 4, &end, 10);
  return end != value + 4 && *end == '\0' && port <= UINT16_MAX ? static_cast<uint16_t>(port) : uint16_t{0};
}

Result<UniqueFd> listen_on_loopback(uint16_t port) noexcept {
  auto socket = new_socket(port);
  if (!socket) return socket;
  int on = 1;  // connections of the one before that are still winding down are no reason to wait
  setsockopt(socket->get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(port);
  if (bind(socket->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed("bind", port);
  if (listen(socket->get(), 8) != 0) return failed("listen", port);
  return socket;
}

uint16_t port_of(int socket) noexcept {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return address.sin_family == AF_INET ? ntohs(address.sin_port) : uint16_t{0};
}

Result<UniqueFd> connect_to_loopback(uint16_t port, int patience_ms) noexcept {
  int64_t deadline = now_ms() + patience_ms;
  auto socket = new_socket(port);
  if (!socket) return socket;
  sockaddr_in address = loopback(port);
  if (connect(socket->get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EINPROGRESS) return failed("connect", port);
    if (auto done = finish_connect(socket->get(), port, deadline); !done)
      return std::unexpected(done.error());
  }
  for (;;) {
    auto other = loopback_peer(socket->get());
    if (other) return socket;
    if (other.error().code != EAGAIN || now_ms() >= deadline) return std::unexpected(other.error());
    poll(nullptr, 0, kPauseMs);
  }
}

Result<LoopbackPeer> loopback_peer(int socket) noexcept {
  sockaddr_in ours{}, theirs{};
  socklen_t size = sizeof ours;
  if (getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &size) != 0) return failed("getsockname", 0);
  size = sizeof theirs;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &size) != 0) return failed("getpeername", 0);
  TcpRow row{};
  // A socket that has been closed has no owner any more, and is told of as root's.
  if (!find_other_end(ours, theirs, &row) || row.state != kEstablished)
    return fail(EPERM, "%s does not tell whose the other side is", kTable);
  if (row.inode == 0) return fail(EAGAIN, "the other side has not taken the connection yet");
  if (row.uid != geteuid()) return fail(EPERM, "the other side belongs to another user");
  return LoopbackPeer{row.uid, row.inode};
}

bool parse_tcp_row(const char* line, TcpRow* row) noexcept {
  unsigned local_port = 0, remote_port = 0;
  unsigned long long inode = 0;
  if (sscanf(line, " %*u: %8x:%4x %8x:%4x %2x %*x:%*x %*x:%*x %*x %u %*d %llu", &row->local_address,
             &local_port, &row->remote_address, &remote_port, &row->state, &row->uid, &inode) != 7)
    return false;
  row->local_port = static_cast<uint16_t>(local_port);
  row->remote_port = static_cast<uint16_t>(remote_port);
  row->inode = inode;
  return true;
}

}  // namespace pctally::n64
