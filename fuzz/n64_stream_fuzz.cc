// What arrives at either end between a program and gperf: a stream that announces and contains anything.
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "dialect/n64/channel.h"
#include "tool/gperf/transfer.h"

using namespace pctally;

namespace {

constexpr size_t kMostBytes = 3000;  // the answers to them fit into the socket: nobody reads those

/// A connection on which `data` has arrived, and nothing will follow. The other end stays open.
struct Wire {
  UniqueFd near, far;

  Wire(const uint8_t* data, size_t size) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) __builtin_trap();
    near.reset(ends[0]);
    far.reset(ends[1]);
    if (size > 0 && send(far.get(), data, size, 0) != static_cast<ssize_t>(size)) __builtin_trap();
    shutdown(far.get(), SHUT_WR);
  }
};

/// gperf's side. What it returns is no more than what was sent can hold.
void receive(const uint8_t* data, size_t size) {
  Wire wire(data, size);
  auto counts = receive_counts(std::move(wire.near), false);
  if (!counts) return;
  size_t counters = 0;
  for (const GperfSegment& segment : counts->segments) counters += segment.counters.size();
  if (16 + 12 * counts->segments.size() + 2 * counters > size) __builtin_trap();
}

/// The program's side, and any order of operations.
void operate(const uint8_t* data, size_t size) {
  if (size < 1) return;
  uint8_t order = *data;
  Wire wire(data + 1, size - 1);
  n64::Channel channel(std::move(wire.near), {.step_ms = 1000, .total_ms = 2000});
  uint8_t bytes[n64::kBlockBytes];
  bool going = true;
  for (unsigned step = 0; going && step < 64; ++step) {
    bool data_next = (order >> step % 8 & 1) != 0;
    going = data_next ? channel.receive(bytes, 1 + step * 31 % sizeof bytes) : channel.receive(n64::kRequest);
  }
  if (!going && (channel.receive(n64::kRequest) || channel.receive(bytes, 1))) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  size_t length = std::min(size - 1, kMostBytes);
  if (data[0] % 2 == 0)
    receive(data + 1, length);
  else
    operate(data + 1, length);
  return 0;
}
