#include "object/worker/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace pctally {
namespace {

/// Before each message.
struct Length {
  uint64_t bytes;
};

bool wait_for(int socket, int patience_ms) {
  pollfd event{socket, POLLIN, 0};
  int ready;
  do {
    ready = poll(&event, 1, patience_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool receive(int socket, int patience_ms, void* to, size_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    if (!wait_for(socket, patience_ms)) return false;
    const ssize_t count = recv(socket, at, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

/// The length, and the descriptor that comes with it.
bool receive_length(int socket, int patience_ms, Length* length, UniqueFd* descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec part{length, sizeof *length};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t count;
  do {
    if (!wait_for(socket, patience_ms)) return false;
    count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (count < 0 && errno == EINTR);
  const cmsghdr* extra = CMSG_FIRSTHDR(&header);
  if (extra != nullptr && extra->cmsg_type == SCM_RIGHTS && extra->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(extra), sizeof fd);
    *descriptor = UniqueFd(fd);
  }
  return count == sizeof *length;
}

}  // namespace

void MessageWriter::number(uint64_t value) {
  const auto* from = reinterpret_cast<const unsigned char*>(&value);
  bytes_.insert(bytes_.end(), from, from + sizeof value);
}

void MessageWriter::text(std::string_view text) {
  number(text.size());
  bytes_.insert(bytes_.end(), text.begin(), text.end());
}

void MessageWriter::numbers(std::span<const uint64_t> values) {
  number(values.size());
  for (uint64_t value : values) number(value);
}

uint64_t MessageReader::number() {
  uint64_t value = 0;
  damaged_ = damaged_ || left() < sizeof value;
  if (damaged_) return 0;
  memcpy(&value, bytes_.data() + at_, sizeof value);
  at_ += sizeof value;
  return value;
}

std::string MessageReader::text() {
  const uint64_t bytes = number();
  damaged_ = damaged_ || bytes > left();
  if (damaged_) return {};
  std::string text(reinterpret_cast<const char*>(bytes_.data()) + at_, bytes);
  at_ += bytes;
  return text;
}

std::vector<uint64_t> MessageReader::numbers() {
  const uint64_t count = number();
  damaged_ = damaged_ || count > left() / sizeof(uint64_t);
  std::vector<uint64_t> values(damaged_ ? 0 : count);
  for (uint64_t& value : values) value = number();
  return values;
}

bool send_message(int socket, const MessageWriter& message, int descriptor) {
  Length length{message.bytes().size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  iovec parts[2] = {{&length, sizeof length},
                    {const_cast<unsigned char*>(message.bytes().data()), message.bytes().size()}};
  msghdr header{};
  header.msg_iov = parts;
  header.msg_iovlen = 2;
  if (descriptor >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* extra = CMSG_FIRSTHDR(&header);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(extra), &descriptor, sizeof descriptor);
  }
  while (header.msg_iovlen > 0) {
    const ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    header.msg_control = nullptr;
    header.msg_controllen = 0;
    for (auto left = static_cast<size_t>(sent); header.msg_iovlen > 0;) {
      iovec& part = *header.msg_iov;
      const size_t done = std::min(left, part.iov_len);
      part.iov_base = static_cast<unsigned char*>(part.iov_base) + done;
      part.iov_len -= done;
      left -= done;
      if (part.iov_len > 0) break;
      ++header.msg_iov;
      --header.msg_iovlen;
    }
  }
  return true;
}

std::optional<MessageReader> receive_message(int socket, int patience_ms) {
  Length length{};
  UniqueFd descriptor;
  if (!receive_length(socket, patience_ms, &length, &descriptor) || length.bytes > kMostMessageBytes)
    return {};
  std::vector<unsigned char> bytes(length.bytes);
  if (!receive(socket, patience_ms, bytes.data(), bytes.size())) return {};
  MessageReader reader(std::move(bytes));
  reader.descriptor = std::move(descriptor);
  return reader;
}

}  // namespace pctally
