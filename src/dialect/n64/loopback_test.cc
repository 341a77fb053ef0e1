#include "dialect/n64/loopback.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace pctally::n64 {
namespace {

constexpr int kPatienceMs = 5000;

struct Pair {
  UniqueFd listener, client, server;

  /// The client's socket, as loopback_peer of the server tells it.
  Result<LoopbackPeer> seen() const { return loopback_peer(server.get()); }
};

UniqueFd accept_from(const UniqueFd& listener) {
  pollfd waiting{listener.get(), POLLIN, 0};
  poll(&waiting, 1, kPatienceMs);
  return UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

/// A connection nobody has to wait for: the kernel completes it before it is accepted.
UniqueFd raw_client(uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr address{};
  address.sa_family = AF_INET;
  const unsigned char bytes[] = {
      static_cast<unsigned char>(port >> 8), static_cast<unsigned char>(port), 127, 0, 0, 1};
  for (size_t i = 0; i < sizeof bytes; ++i) address.sa_data[i] = static_cast<char>(bytes[i]);
  if (connect(socket.get(), &address, sizeof address) != 0) socket.reset();
  return socket;
}

Pair connected() {
  Pair pair;
  pair.listener = std::move(*listen_on_loopback(0));
  pair.client = raw_client(port_of(pair.listener.get()));
  pair.server = accept_from(pair.listener);
  return pair;
}

uint64_t inode_of(const UniqueFd& socket) {
  struct stat status {};
  fstat(socket.get(), &status);
  return status.st_ino;
}

TEST(n64_loopback, reads_a_row) {
  TcpRow row{};
  ASSERT_TRUE(parse_tcp_row(
      "   1: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 "
      "12345678901 1 0000000000000000 100 0 0 10 0",
      &row));
  EXPECT_EQ(row.local_address, 0x0100007fu);
  EXPECT_EQ(row.local_port, 0x1f90);
  EXPECT_EQ(row.remote_port, 0xd431);
  EXPECT_EQ(row.state, 1u);
  EXPECT_EQ(row.uid, 1000u);
  EXPECT_EQ(row.inode, 12345678901u);
}

TEST(n64_loopback, refuses_what_is_no_row) {
  TcpRow row{};
  for (const char* line :
       {"",
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
        "   1: 0100007F:1F90", "   1: 0100007F:1F90 0100007F:D431 01 0:0 00:0 0 x 0 1"})
    EXPECT_FALSE(parse_tcp_row(line, &row)) << line;
}

TEST(n64_loopback, knows_the_other_end) {
  Pair pair = connected();
  auto client = pair.seen();
  ASSERT_TRUE(client) << client.error().text;
  EXPECT_EQ(client->uid, geteuid());
  EXPECT_EQ(client->inode, inode_of(pair.client));
  auto server = loopback_peer(pair.client.get());
  ASSERT_TRUE(server) << server.error().text;
  EXPECT_EQ(server->inode, inode_of(pair.server));
}

TEST(n64_loopback, knows_nothing_of_a_connection_nobody_has_taken) {
  auto listener = listen_on_loopback(0);
  UniqueFd client = raw_client(port_of(listener->get()));
  auto server = loopback_peer(client.get());
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, EAGAIN);
}

TEST(n64_loopback, knows_nothing_of_an_end_that_is_closed) {
  Pair pair = connected();
  pair.client.reset();
  auto client = pair.seen();
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, EPERM);
}

TEST(n64_loopback, refuses_another_user) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: needs root, to become another user";
  Pair pair;
  pair.listener = std::move(*listen_on_loopback(0));
  uint16_t port = port_of(pair.listener.get());
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  pid_t child = fork();
  if (child == 0) {
    close(done[1]);
    if (setuid(65534) != 0) _exit(2);
    UniqueFd client = raw_client(port);
    char byte;
    _exit(client.valid() && read(done[0], &byte, 1) == 0 ? 0 : 1);  // open until the parent has looked
  }
  close(done[0]);
  pair.server = accept_from(pair.listener);
  auto client = pair.seen();
  close(done[1]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().code, EPERM);
  EXPECT_STREQ(client.error().text, "the other side belongs to another user");
}

TEST(n64_loopback, is_bound_to_127_0_0_1_alone) {
  auto listener = listen_on_loopback(0);
  sockaddr address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(listener->get(), &address, &size), 0);
  EXPECT_EQ(std::string(address.sa_data + 2, 4), std::string("\x7f\0\0\x01", 4));
  auto second = listen_on_loopback(port_of(listener->get()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, EADDRINUSE);
}

TEST(n64_loopback, nobody_there_is_told_at_once) {
  uint16_t port = port_of(listen_on_loopback(0)->get());
  auto server = connect_to_loopback(port, kPatienceMs);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, ECONNREFUSED);
}

TEST(n64_loopback, waiting_to_be_taken_ends) {
  auto listener = listen_on_loopback(0);
  auto server = connect_to_loopback(port_of(listener->get()), 50);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().code, EAGAIN);
}

TEST(n64_loopback, a_variable_names_a_port) {
  const struct {
    const char* value;
    unsigned port;
  } cases[] = {{"tcp:5021", 5021}, {"tcp:65535", 65535}, {"tcp:65536", 0}, {"tcp:", 0},    {"tcp:12x", 0},
               {"5021", 0},        {"tcp:-1", 0},        {"", 0},          {"udp:5021", 0}};
  for (const auto& each : cases) {
    setenv(kFlushVariable, each.value, 1);
    EXPECT_EQ(loopback_port(kFlushVariable), each.port) << each.value;
  }
  unsetenv(kFlushVariable);
  EXPECT_EQ(loopback_port(kFlushVariable), 0);
}

}  // namespace
}  // namespace pctally::n64
