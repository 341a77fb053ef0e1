#include "object/worker/message.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file/passed_descriptor.h"

namespace pctally {
namespace {

/// Before each message.
struct Length {
  uint64_t bytes;
};

bool receive(int socket, int patience_ms, void* to, size_t bytes) {
  auto* at = static_cast<unsigned char*>(to);
  while (bytes > 0) {
    if (!wait_readable(socket, patience_ms)) return false;
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
  return receive_with_descriptor(socket, patience_ms, length, sizeof *length, MSG_WAITALL, descriptor) ==
         sizeof *length;
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
  iovec parts[2] = {{&length, sizeof length},
                    {const_cast<unsigned char*>(message.bytes().data()), message.bytes().size()}};
  for (std::span<iovec> rest = parts; !rest.empty(); descriptor = -1) {
    const ssize_t sent = send_with_descriptor(socket, rest.data(), rest.size(), descriptor);
    if (sent < 0) return false;
    for (auto left = static_cast<size_t>(sent); !rest.empty();) {
      iovec& part = rest.front();
      const size_t done = std::min(left, part.iov_len);
      part.iov_base = static_cast<unsigned char*>(part.iov_base) + done;
      part.iov_len -= done;
      left -= done;
      if (part.iov_len > 0) break;
      rest = rest.subspan(1);
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
