// A gperf in a test: speaks the stream of protocol.h byte by byte, by no code of the library's.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <fstream>
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

  void say(char what) const { EXPECT_EQ(send(fd_, &what, 1, MSG_NOSIGNAL), 1); }

  /// The numbers in front of the segments; false if something else comes.
  bool receive_header(Dump* dump) {
    if (word(4) != 0x4e363450) return false;  // "N64P"
    dump->sections = static_cast<uint32_t>(word(4));
    dump->period_us = static_cast<uint32_t>(word(4));
    dump->overflow = static_cast<uint32_t>(word(4));
    return !broken_;
  }

  /// The first number of the next segment.
  bool receive_start(Dump* dump) {
    dump->starts.push_back(word(8));
    return !broken_;
  }

  /// Everything that one transfer sends; nothing if it breaks off.
  std::optional<Dump> receive() {
    Dump dump;
    if (!receive_header(&dump)) return std::nullopt;
    return receive_segments(dump);
  }
  std::optional<Dump> receive_segments(Dump dump) {
    for (uint32_t i = 0; i < dump.sections && !broken_; ++i) {
      if (dump.starts.size() == i) receive_start(&dump);
      uint64_t count = word(4);
      std::vector<uint16_t>& counters = dump.counters.emplace_back();
      while (counters.size() < count && !broken_) counters.push_back(static_cast<uint16_t>(word(2)));
    }
    if (broken_) return std::nullopt;
    say('k');
    return dump;
  }

  /// Waits until the other side has closed the connection: it serves one after the other.
  void await_end() {
    byte();
    EXPECT_TRUE(broken_);
  }

 private:
  uint64_t word(unsigned bytes) {
    uint64_t value = 0;
    while (bytes-- > 0) value = value << 8 | byte();
    return value;
  }
  /// With a time limit no call is restarted after the ticks that fall into this thread.
  uint8_t byte() {
    while (used_ == filled_ && !broken_) {
      ssize_t more = recv(fd_, bytes_, sizeof bytes_, 0);
      broken_ = more == 0 || (more < 0 && errno != EINTR);
      used_ = 0, filled_ = more > 0 ? static_cast<size_t>(more) : 0;
    }
    return broken_ ? 0 : bytes_[used_++];
  }

  int fd_;
  uint8_t bytes_[4096] = {};
  size_t used_ = 0, filled_ = 0;
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

/// A connection to this very process; -1 if nobody listens.
inline int connect_self() {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address = address_of(socket_path(std::to_string(getpid())));
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return close(fd), -1;
  return fd;
}

/// The same, on which a query has been sent.
inline int query_self() {
  int fd = connect_self();
  EXPECT_TRUE(fd < 0 || send(fd, "q", 1, MSG_NOSIGNAL) == 1);
  return fd;
}

inline std::optional<Dump> dump_self() {
  int fd = query_self();
  return fd < 0 ? std::nullopt : Host(fd).receive();
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
