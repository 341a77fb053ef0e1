#include "dialect/n64/channel.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>

namespace pctally::n64 {
namespace {

struct Wire {
  UniqueFd near, far;
  Wire() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    near.reset(ends[0]);
    far.reset(ends[1]);
  }
  void arrives(std::initializer_list<Packet> packets) const {
    for (const Packet& packet : packets)
      EXPECT_EQ(send(far.get(), packet.bytes, sizeof packet.bytes, 0), static_cast<ssize_t>(kPacketBytes));
  }
};

Packet signal_packet(uint8_t signal) { return make_packet(kTypeSignal, &signal, 1); }

Packet data_packet() {
  const uint8_t data[] = {1, 2, 3};
  return make_packet(kTypeData, data, sizeof data);
}

TEST(n64_channel, carries_data_in_pieces_of_any_size) {
  Wire wire;
  Channel from(static_cast<UniqueFd&&>(wire.far), Patience{}),
      to(static_cast<UniqueFd&&>(wire.near), Patience{});
  uint8_t sent[5000], got[sizeof sent] = {};
  for (size_t i = 0; i < sizeof sent; ++i) sent[i] = static_cast<uint8_t>(i * 7);
  ASSERT_TRUE(from.send_data(sent, sizeof sent));
  for (size_t at = 0, step = 1; at < sizeof got; at += step, ++step) {
    step = at + step < sizeof got ? step : sizeof got - at;
    ASSERT_TRUE(to.receive_data(got + at, step));
  }
  EXPECT_EQ(memcmp(sent, got, sizeof got), 0);
}

TEST(n64_channel, a_wrong_packet_ends_it_and_what_arrived_behind_is_not_read) {
  for (Packet wrong :
       {data_packet(), signal_packet(kAck), make_packet(kTypeSignal, nullptr, 0), Packet{{0xff, 0, 0, 0}}}) {
    Wire wire;
    wire.arrives({wrong, signal_packet(kFlush), data_packet(), data_packet()});
    Channel channel(static_cast<UniqueFd&&>(wire.near), Patience{});
    EXPECT_FALSE(channel.receive_signal(kFlush));
    uint8_t bytes[3];
    EXPECT_FALSE(channel.receive_signal(kFlush));
    EXPECT_FALSE(channel.receive_data(bytes, sizeof bytes));
    EXPECT_FALSE(channel.send_signal(kAck));
  }
}

TEST(n64_channel, bytes_left_of_a_packet_are_not_read_after_the_end) {
  Wire wire;
  wire.arrives({data_packet(), data_packet()});
  Channel channel(static_cast<UniqueFd&&>(wire.near), Patience{});
  uint8_t byte;
  EXPECT_TRUE(channel.receive_data(&byte, 1));
  EXPECT_FALSE(channel.receive_signal(kAck));  // data it is
  EXPECT_FALSE(channel.receive_data(&byte, 1));
}

TEST(n64_channel, silence_ends_it) {
  Wire wire;
  Channel channel(static_cast<UniqueFd&&>(wire.near), {.step_ms = 20, .total_ms = 1000});
  EXPECT_FALSE(channel.receive_signal(kAck));
  wire.arrives({});
  EXPECT_EQ(send(wire.far.get(), "", 1, MSG_NOSIGNAL), -1) << "hung up";
}

}  // namespace
}  // namespace pctally::n64
