#include "dialect/n64/channel.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/time_ns.h"

namespace pctally::n64 {
namespace {

int64_t now_ms() noexcept { return static_cast<int64_t>(monotonic_ns() / 1000000); }

}  // namespace

Channel::Channel(UniqueFd socket, Patience patience) noexcept
    : socket_(static_cast<UniqueFd&&>(socket)),
      step_ms_(patience.step_ms),
      deadline_ms_(now_ms() + patience.total_ms) {}

bool Channel::broken() noexcept {
  socket_.reset();
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

template <class Move>
bool Channel::all(size_t count, short event, Move move) noexcept {
  for (size_t at = 0; at < count;) {
    if (!socket_.valid() || !wait_for(event)) return broken();
    ssize_t moved = move(at);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved <= 0) return broken();
    at += static_cast<size_t>(moved);
  }
  return socket_.valid();
}

bool Channel::send(const uint8_t* bytes, size_t count) noexcept {
  return all(count, POLLOUT, [&](size_t at) {
    return ::send(socket_.get(), bytes + at, count - at, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

bool Channel::receive(uint8_t* bytes, size_t count) noexcept {
  return all(count, POLLIN,
             [&](size_t at) { return recv(socket_.get(), bytes + at, count - at, MSG_DONTWAIT); });
}

bool Channel::receive(uint8_t byte) noexcept {
  uint8_t got = 0;
  return receive(&got, 1) && (got == byte || broken());
}

}  // namespace pctally::n64
