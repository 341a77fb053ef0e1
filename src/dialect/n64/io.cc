// The I/O thread that serves queries of gperf, and the flush to a gperf in server mode.
//
// The worst a gperf can do is to make osProfileFlush wait two seconds. All memory and all waiting are
// bounded, and the thread holds the lock for one block of counters at a time.
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call_lock.h"
#include "base/fork_hook.h"
#include "dialect/n64/channel.h"
#include "dialect/n64/profile.h"
#include "dialect/n64/socket.h"
#include "dialect/session.h"
#include "dialect/verbose.h"

namespace pctally::n64 {
namespace {

constexpr Patience kFlushPatience{1000, 1500};
constexpr size_t kStackBytes = 256 << 10;

struct IoThread {
  int listener = -1;
  ino_t inode = 0;  ///< of the listener: a program may close what it did not open, and reuse the number
  pid_t owner = 0;  ///< the process whose socket it is
  char path[sizeof sockaddr_un::sun_path] = {};
};

constinit Mutex g_mutex;
IoThread g_io GUARDED_BY(g_mutex);
bool g_running GUARDED_BY(g_mutex) = false;
bool g_ever = false;  ///< there was a socket; read at the end of programs that have none, without the lock

ino_t inode_of(int fd) noexcept {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

bool send_section(Channel* channel, uint64_t generation, uint32_t index, UserMemory* memory) noexcept {
  constexpr uint32_t kPerBlock = kBlockBytes / sizeof(uint16_t);
  Section it;
  uint8_t bytes[kBlockBytes];
  if (!section(generation, index, &it)) return false;
  put_big_endian(bytes, it.text_start, 8);
  put_big_endian(bytes + 8, it.counters, 4);
  if (!channel->send(bytes, kSegmentBytes)) return false;
  for (uint32_t first = 0, count = 0; first < it.counters; first += count) {
    uint16_t counters[kPerBlock];
    count = it.counters - first < kPerBlock ? it.counters - first : kPerBlock;
    if (!read_counters(generation, index, first, count, counters, memory)) return false;
    for (uint32_t i = 0; i < count; ++i) put_big_endian(bytes + 2 * i, counters[i], 2);
    if (!channel->send(bytes, 2 * size_t{count})) return false;
  }
  return true;
}

/// A list that is replaced half-way ends the transfer: gperf sees that it is not complete. On return gperf
/// has everything, or the transfer has failed.
void send_all(Channel* channel) noexcept {
  Summary now = summary();
  UserMemory memory;
  uint8_t header[kHeaderBytes];
  put_big_endian(header, kMagic, 4);
  put_big_endian(header + 4, now.sections, 4);
  put_big_endian(header + 8, now.period_us, 4);
  put_big_endian(header + 12, now.overflow, 4);
  if (!channel->send(header, sizeof header)) return;
  for (uint32_t index = 0; index < now.sections; ++index)
    if (!send_section(channel, now.generation, index, &memory)) return;
  channel->receive(kReceived);
}

void send_to(UniqueFd server) noexcept {
  Channel channel(static_cast<UniqueFd&&>(server), kFlushPatience);
  send_all(&channel);
}

void serve(int socket) noexcept {
  UniqueFd connection(socket);
  if (!peer(socket)) return;  // another user's
  Channel channel(static_cast<UniqueFd&&>(connection), Patience{});
  if (channel.receive(kRequest)) send_all(&channel);
}

/// poll(2) does not end when its descriptor is closed.
constexpr int kLookMs = 60'000;

/// Its number may be another socket's by now.
bool has_listener(const IoThread& io) noexcept {
  return io.listener >= 0 && inode_of(io.listener) == io.inode;
}

bool wait_for_query(const IoThread& io) noexcept {
  pollfd waiting{io.listener, POLLIN, 0};
  if (!has_listener(io)) return false;
  if (poll(&waiting, 1, kLookMs) < 0) return errno == EINTR;
  return (waiting.revents & POLLNVAL) == 0 && has_listener(io);
}

IoThread io_thread() noexcept {
  CallLock lock(g_mutex);
  return g_io;
}

/// Ends when its socket has been taken away.
void* run_io(void*) {
  prctl(PR_SET_NAME, "pctally-n64");
  const IoThread io = io_thread();
  while (wait_for_query(io)) {
    int socket = accept4(io.listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) serve(socket);
    if (socket < 0 && (errno == EMFILE || errno == ENFILE)) poll(nullptr, 0, 100);
  }
  CallLock lock(g_mutex);
  if (g_io.inode == io.inode) g_running = false;  // else another thread waits at another socket
  return nullptr;
}

/// The console's library had no error for it, and the profile works without gperf.
void say_nobody_answers(const char* why) noexcept {
  if (is_verbose()) say("n64: gperf cannot ask this process: %s", why);
}

bool create_thread() noexcept {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(&thread, &attributes, run_io, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) say_nobody_answers("its thread cannot be started");
  return error == 0;
}

bool listen_here() noexcept REQUIRES(g_mutex) {
  __atomic_store_n(&g_ever, true, __ATOMIC_RELAXED);
  char name[32];
  snprintf(name, sizeof name, "%s%d", kProgramPrefix, static_cast<int>(getpid()));
  auto socket = listen_at(name, g_io.path);
  if (!socket) return say_nobody_answers(socket.error().text), false;
  g_io.listener = socket->release();
  g_io.inode = inode_of(g_io.listener);
  g_io.owner = getpid();
  return true;
}

void close_listener() noexcept REQUIRES(g_mutex) {
  if (has_listener(g_io)) close(g_io.listener);
  g_io = IoThread{};
}

/// Of a listener that the program has closed, so that the name is free again: while a thread waits at it the
/// socket lives on. One of the parent's stays, also where a child by the bare clone(2) shares its
/// descriptors.
void leave_socket() noexcept REQUIRES(g_mutex) {
  if (g_io.listener >= 0 && g_io.owner == getpid()) {
    unlink(g_io.path);
    close_listener();
  }
  g_io = IoThread{};
}

/// The child of a fork has no I/O thread until it calls osProfileInit itself.
void in_child() {
  CallLock lock(g_mutex);
  close_listener();
  g_running = false;
}

// No other lock of a ForkHook is taken inside this one.
const ForkHook g_fork_hook(0, &g_mutex, in_child);

__attribute__((destructor)) void remove_socket() {
  if (!__atomic_load_n(&g_ever, __ATOMIC_RELAXED) || ends_behind_filter()) return;
  CallLock lock(g_mutex);
  if (g_io.listener >= 0 && g_io.owner == getpid()) unlink(g_io.path);
}

}  // namespace

void start_io_thread() noexcept {
  CallLock lock(g_mutex);
  if (answers_only() || (g_running && has_listener(g_io) && g_io.owner == getpid())) return;
  leave_socket();
  g_running = listen_here() && create_thread();
  if (!g_running && g_io.listener >= 0) unlink(g_io.path), close_listener();
}

void flush() noexcept {
  const NotCancelled not_cancelled;
  if (summary().generation == 0) return;
  for (unsigned number = 0; number < kDirectories; ++number) {
    char folder[sizeof sockaddr_un::sun_path], path[sizeof folder + sizeof kServerName];
    if (!directory(number, folder)) continue;
    snprintf(path, sizeof path, "%s/%s", folder, kServerName);
    auto server = connect_to(path);
    if (server) return send_to(static_cast<UniqueFd&&>(*server));
  }
}

}  // namespace pctally::n64
