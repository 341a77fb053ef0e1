#include "dialect/n64/channel.h"

#include <gtest/gtest.h>
#include <string.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

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
};

TEST(n64_channel, carries_bytes_in_pieces_of_any_size) {
  Wire wire;
  Channel to(static_cast<UniqueFd&&>(wire.near), Patience{});
  std::vector<uint8_t> sent(1 << 20), got(sent.size());  // more than a socket holds
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 7);
  std::thread sender([&] {
    Channel from(static_cast<UniqueFd&&>(wire.far), Patience{});
    EXPECT_TRUE(from.send(sent.data(), sent.size()));
  });
  for (size_t at = 0, step = 1; at < got.size(); at += step, ++step) {
    step = at + step < got.size() ? step : got.size() - at;
    ASSERT_TRUE(to.receive(got.data() + at, step));
  }
  sender.join();
  EXPECT_EQ(sent, got);
}

TEST(n64_channel, a_wrong_byte_ends_it_and_what_arrived_behind_is_not_read) {
  Wire wire;
  EXPECT_EQ(send(wire.far.get(), "xqqq", 4, 0), 4);
  Channel channel(static_cast<UniqueFd&&>(wire.near), Patience{});
  EXPECT_FALSE(channel.receive(kRequest));
  EXPECT_FALSE(channel.receive(kRequest));
  EXPECT_FALSE(channel.send(kReceived));
}

TEST(n64_channel, a_short_answer_ends_it) {
  Wire wire;
  EXPECT_EQ(send(wire.far.get(), "abc", 3, 0), 3);
  wire.far.reset();
  Channel channel(static_cast<UniqueFd&&>(wire.near), Patience{});
  uint8_t bytes[4];
  EXPECT_FALSE(channel.receive(bytes, sizeof bytes));
}

TEST(n64_channel, silence_ends_it) {
  Wire wire;
  Channel channel(static_cast<UniqueFd&&>(wire.near), {.step_ms = 20, .total_ms = 1000});
  EXPECT_FALSE(channel.receive(kReceived));
  EXPECT_EQ(send(wire.far.get(), "", 1, MSG_NOSIGNAL), -1) << "hung up";
}

}  // namespace
}  // namespace pctally::n64
