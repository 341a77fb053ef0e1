// A connected socket with patience: bytes out and bytes in, both ends' side of protocol.h.
//
// Refuses to wait longer than `step` in one operation, or than `total` in all of them together.
#pragma once
#include "base/unique_fd.h"
#include "dialect/n64/protocol.h"

namespace pctally::n64 {

struct Patience {
  int step_ms = 1000;
  int total_ms = 30000;
};

/// One thread. The first operation that fails closes the socket; every later one is false.
class Channel {
 public:
  Channel(UniqueFd socket, Patience patience) noexcept;

  bool send(const uint8_t* bytes, size_t count) noexcept;
  bool receive(uint8_t* bytes, size_t count) noexcept;
  bool send(uint8_t byte) noexcept { return send(&byte, 1); }
  /// False unless exactly this byte comes.
  bool receive(uint8_t byte) noexcept;

 private:
  [[nodiscard]] bool wait_for(short event) noexcept;
  /// Moves bytes by send(2) or recv(2), as often as it takes.
  template <class Move>
  bool all(size_t count, short event, Move move) noexcept;
  bool broken() noexcept;

  UniqueFd socket_;
  int step_ms_;
  int64_t deadline_ms_;
};

}  // namespace pctally::n64
