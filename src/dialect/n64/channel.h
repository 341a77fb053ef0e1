// A connected socket that carries the packets of n64_protocol.h, both ends' side of it.
//
// Trusts nothing that arrives: a packet of another type, an empty one, silence and slowness all end the
// channel. No operation waits longer than `step`, nor all together longer than `total`.
#pragma once
#include "base/unique_fd.h"
#include "dialect/n64/protocol.h"

namespace pctally::n64 {

struct Patience {
  int step_ms = 1000;
  int total_ms = 30000;
};

/// One thread. After the first `false` every operation is false.
class Channel {
 public:
  Channel(UniqueFd socket, Patience patience) noexcept;

  bool send_data(const uint8_t* bytes, size_t count) noexcept;
  bool receive_data(uint8_t* bytes, size_t count) noexcept;
  bool send_signal(uint8_t signal) noexcept;
  /// False unless exactly this signal comes.
  bool receive_signal(uint8_t signal) noexcept;

 private:
  [[nodiscard]] bool wait_for(short event) noexcept;
  bool send_all(const uint8_t* bytes, size_t count) noexcept;
  bool refill() noexcept;
  bool receive_packet(unsigned type, Packet* packet) noexcept;
  bool broken() noexcept;

  UniqueFd socket_;
  int step_ms_;
  int64_t deadline_ms_;
  uint8_t arrived_[4096];
  size_t read_ = 0, filled_ = 0;  ///< of arrived_
  Packet packet_{};               ///< data packet being consumed
  size_t taken_ = 0;              ///< of its data
};

}  // namespace pctally::n64
