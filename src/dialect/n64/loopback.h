// The other place where programs and gperf meet: TCP on 127.0.0.1, where they share no directory.
//
// Any local user can connect there, so both sides look up who owns the other end of the connection, in the
// kernel's own table (/proc/net/tcp), and talk to their own user only. Refuses every address but 127.0.0.1.
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally::n64 {

/// The port that an environment variable names as "tcp:PORT"; 0 if it is not set, is something else, or the
/// program has more privilege than its user.
uint16_t loopback_port(const char* variable) noexcept;
inline constexpr char kFlushVariable[] = "PCTALLY_GPERF";          ///< where osProfileFlush finds gperf -s
inline constexpr char kQueryVariable[] = "PCTALLY_GPERF_QUERIES";  ///< where a program answers queries

/// A listening socket; port 0: any that is free. Errors: EADDRINUSE and bind(2)'s others.
Result<UniqueFd> listen_on_loopback(uint16_t port) noexcept;

/// The port a socket is bound to; 0 if there is none.
uint16_t port_of(int socket) noexcept;

/// Waits for the other side to take the connection and to be known, no longer than that. Errors: EPERM
/// (another user's, or not to be found out), or connect(2)'s.
Result<UniqueFd> connect_to_loopback(uint16_t port, int patience_ms) noexcept;

/// The other end of an established connection, as the kernel tells it.
struct LoopbackPeer {
  uid_t uid = 0;
  uint64_t inode = 0;  ///< of its socket; that of a connection nobody has accepted yet is 0
};

/// EPERM if it is another user's, of another network namespace, or gone; EAGAIN if it is not accepted yet.
Result<LoopbackPeer> loopback_peer(int socket) noexcept;

/// A row of /proc/net/tcp: addresses as the kernel keeps them, ports as numbers.
struct TcpRow {
  uint32_t local_address, remote_address;
  uint16_t local_port, remote_port;
  unsigned state;
  uid_t uid;
  uint64_t inode;
};

/// False for the headline and for what is no row. `line` ends with a NUL.
bool parse_tcp_row(const char* line, TcpRow* row) noexcept;

}  // namespace pctally::n64
