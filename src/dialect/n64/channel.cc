#include "dialect/n64/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

namespace pctally::n64 {
namespace {

int64_t now_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

size_t smaller(size_t a, size_t b) noexcept { return a < b ? a : b; }

bool try_again() noexcept { return errno == EINTR || errno == EAGAIN; }

}  // namespace

Channel::Channel(UniqueFd socket, Patience patience) noexcept
    : socket_(static_cast<UniqueFd&&>(socket)),
      step_ms_(patience.step_ms),
      deadline_ms_(now_ms() + patience.total_ms) {}

/// What has arrived already goes, too.
bool Channel::broken() noexcept {
  socket_.reset();
  read_ = filled_ = taken_ = 0;
  packet_ = {};
  return false;
}

bool Channel::wait_for(short event) noexcept {
  int64_t now = now_ms(), until = now + step_ms_ < deadline_ms_ ? now + step_ms_ : deadline_ms_;
  for (; now <= until; now = now_ms()) {
    pollfd waiting{socket_.get(), event, 0};
    int ready = poll(&waiting, 1, static_cast<int>(until - now));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

bool Channel::send_all(const uint8_t* bytes, size_t count) noexcept {
  while (count > 0) {
    if (!socket_.valid() || !wait_for(POLLOUT)) return broken();
    ssize_t sent = send(socket_.get(), bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && try_again()) continue;
    if (sent <= 0) return broken();
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
  return socket_.valid();
}

bool Channel::send_data(const uint8_t* bytes, size_t count) noexcept {
  constexpr size_t kPackets = (kBlockBytes + kPacketData - 1) / kPacketData;
  Packet packets[kPackets];
  size_t used = 0;
  while (count > 0) {
    size_t length = smaller(count, kPacketData);
    packets[used++] = make_packet(kTypeData, bytes, length);
    bytes += length;
    count -= length;
    if (used < kPackets && count > 0) continue;
    if (!send_all(packets[0].bytes, used * kPacketBytes)) return false;
    used = 0;
  }
  return socket_.valid();
}

bool Channel::send_signal(uint8_t signal) noexcept {
  return send_all(make_packet(kTypeSignal, &signal, 1).bytes, kPacketBytes);
}

bool Channel::refill() noexcept {
  memmove(arrived_, arrived_ + read_, filled_ - read_);
  filled_ -= read_;
  read_ = 0;
  if (!socket_.valid() || !wait_for(POLLIN)) return broken();
  ssize_t got = recv(socket_.get(), arrived_ + filled_, sizeof arrived_ - filled_, MSG_DONTWAIT);
  if (got < 0 && try_again()) return true;
  if (got <= 0) return broken();
  filled_ += static_cast<size_t>(got);
  return true;
}

bool Channel::receive_packet(unsigned type, Packet* packet) noexcept {
  if (now_ms() > deadline_ms_) return broken();
  while (filled_ - read_ < kPacketBytes)
    if (!refill()) return false;
  memcpy(packet->bytes, arrived_ + read_, kPacketBytes);
  read_ += kPacketBytes;
  return (packet->type() == type && packet->length() > 0) || broken();
}

bool Channel::receive_data(uint8_t* bytes, size_t count) noexcept {
  while (count > 0) {
    if (taken_ == packet_.length()) {
      if (!receive_packet(kTypeData, &packet_)) return false;
      taken_ = 0;
    }
    size_t length = smaller(count, packet_.length() - taken_);
    memcpy(bytes, packet_.bytes + 1 + taken_, length);
    taken_ += length;
    bytes += length;
    count -= length;
  }
  return socket_.valid();
}

bool Channel::receive_signal(uint8_t signal) noexcept {
  Packet packet;
  return receive_packet(kTypeSignal, &packet) && (packet.bytes[1] == signal || broken());
}

}  // namespace pctally::n64
