// A descriptor that goes with bytes over a Unix socket, and how long to wait for it.
#pragma once
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "base/unique_fd.h"

namespace pctally {

/// True once there is something to read, or the other side is gone; false if neither comes for `patience_ms`
/// (-1: for ever). After a signal the wait begins anew.
inline bool wait_readable(int fd, int patience_ms) noexcept {
  pollfd event{fd, POLLIN, 0};
  int ready;
  do {
    ready = poll(&event, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

/// As sendmsg(2) of the parts with `flags`, with `descriptor` beside their first byte (-1: none). A stream
/// socket may take less than all: the rest goes without it. A signal does not end it, a socket nobody reads
/// raises none.
inline ssize_t send_with_descriptor(int socket, iovec* parts, size_t count, int descriptor,
                                    int flags = 0) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = count;
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* extra = CMSG_FIRSTHDR(&header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(extra), &descriptor, sizeof descriptor);
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket, &header, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent;
}

/// As recvmsg(2) with `flags`, and at most `patience_ms` for each wait; -1: nothing has come. *descriptor is
/// the one that came with the bytes, closed at the next exec(2); without one it stays. More than one are
/// closed: the other side has sent them to fill our table.
inline ssize_t receive_with_descriptor(int socket, int patience_ms, void* to, size_t bytes, int flags,
                                       UniqueFd* descriptor) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{to, bytes};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t count;
  do {
    if (!wait_readable(socket, patience_ms)) return -1;
    count = recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  const cmsghdr* extra = count < 0 ? nullptr : CMSG_FIRSTHDR(&header);
  if (extra == nullptr || extra->cmsg_level != SOL_SOCKET || extra->cmsg_type != SCM_RIGHTS) return count;
  const size_t fds = (extra->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (size_t i = 0; i < fds; ++i) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(extra) + i * sizeof fd, sizeof fd);
    UniqueFd held(fd);
    if (fds == 1) *descriptor = static_cast<UniqueFd&&>(held);
  }
  return count;
}

}  // namespace pctally
