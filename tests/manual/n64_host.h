// A gperf in a test: speaks the packets of the development board byte by byte, by no code of the library's.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <optional>
#include <string>

#include "tests/manual/page_test.h"

namespace pctally::manual {

struct Dump {
  uint32_t sections = 0;
  uint32_t period_us = 0;
  uint32_t overflow = 0;
  std::vector<uint64_t> starts;
  std::vector<std::vector<uint16_t>> counters;
};

class Host {
 public:
  explicit Host(int fd) : fd_(fd) {
    timeval patience{10, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  ~Host() { close(fd_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  void signal(uint8_t what) const {
    const uint8_t packet[4] = {21 << 2 | 1, what, 0, 0};
    EXPECT_EQ(send(fd_, packet, 4, MSG_NOSIGNAL), 4);
  }

  /// Everything that one transfer sends; nothing if it breaks off. `in_between` runs when the first block of
  /// counters has come, which the sender waits to hear of.
  std::optional<Dump> receive(const std::function<void()>& in_between = [] {}) {
    Dump dump;
    bool first = true;
    dump.sections = word(4), dump.period_us = word(4), dump.overflow = word(4);
    for (uint32_t i = 0; i < dump.sections && !broken_; ++i) {
      dump.starts.push_back(word(8));
      uint32_t count = word(4);
      signal(1);
      std::vector<uint16_t>& counters = dump.counters.emplace_back();
      while (counters.size() < count && !broken_) {
        counters.push_back(static_cast<uint16_t>(word(2)));
        if (counters.size() % 1024 != 0 && counters.size() != count) continue;
        if (first && !broken_) in_between();
        first = false;
        signal(1);
      }
    }
    return broken_ ? std::nullopt : std::optional(dump);
  }

 private:
  uint64_t word(unsigned bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | byte();
    return value;
  }
  /// In as many pieces as ticks that fall into this thread make of it: with a time limit no call is
  /// restarted.
  bool next_packet() {
    for (size_t got = 0; got < sizeof packet_;) {
      ssize_t more = recv(fd_, packet_ + got, sizeof packet_ - got, 0);
      if (more <= 0 && !(more < 0 && errno == EINTR)) return false;
      if (more > 0) got += static_cast<size_t>(more);
    }
    return true;
  }
  uint8_t byte() {
    if (used_ == (packet_[0] & 3)) {
      broken_ = broken_ || !next_packet() || packet_[0] >> 2 != 22;
      used_ = 0;
    }
    return packet_[1 + used_++ % 3];
  }

  int fd_;
  uint8_t packet_[4] = {};
  unsigned used_ = 0;
  bool broken_ = false;
};

inline std::string socket_path(const std::string& name) {
  const char* runtime = getenv("XDG_RUNTIME_DIR");
  return std::string(runtime) + "/pctally/n64." + name;
}

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

/// A query to this very process.
inline std::optional<Dump> dump_self(const std::function<void()>& in_between = [] {}) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = address_of(socket_path(std::to_string(getpid())));
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return close(fd), std::nullopt;
  Host host(fd);
  host.signal(2);
  return host.receive(in_between);
}

/// A gperf in server mode, listening.
class Server {
 public:
  Server() : path_(socket_path("gperf")), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = address_of(path_);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_, 1), 0);
  }
  ~Server() {
    close(fd_);
    unlink(path_.c_str());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  std::optional<Dump> receive() const { return Host(accept(fd_, nullptr, nullptr)).receive(); }

 private:
  std::string path_;
  int fd_;
};

/// What /proc says about the thread; empty if there is none.
inline std::string status_of_io_thread() {
  std::string found;
  DIR* tasks = opendir("/proc/self/task");
  while (dirent* entry = readdir(tasks)) {
    std::string task = std::string("/proc/self/task/") + entry->d_name, comm;
    std::ifstream(task + "/comm") >> comm;
    if (comm == "pctally-n64") std::getline(std::ifstream(task + "/status"), found, '\0');
  }
  closedir(tasks);
  return found;
}

}  // namespace pctally::manual
