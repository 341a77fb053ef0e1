#include "object/debuginfod.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/file/write_all.h"
#include "base/time_ns.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr char kLibrary[] = "libdebuginfod.so.1";
constexpr uint64_t kGraceNs = 500'000'000;  ///< for the library to end a download by itself
constexpr size_t kLongestAnswer = 4096;

std::string_view host_of(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  const std::string_view authority = url.substr(0, url.find('/'));
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

bool is_loopback(std::string_view host) {
  in_addr address{};
  if (host == "localhost" || host == "[::1]") return true;
  return inet_pton(AF_INET, std::string(host).c_str(), &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

bool is_plain(std::string_view url) {
  return std::ranges::all_of(url, [](char c) { return c > ' ' && c < 0x7f && c != '@' && c != '\\'; });
}

bool may_be_asked(std::string_view url) {
  if (!is_plain(url)) return false;
  if (url.starts_with("https://")) return !host_of(url).empty();
  return url.starts_with("http://") && is_loopback(host_of(url));
}

/// What the process that downloads says: an errno (0: then a path; else perhaps a text).
struct Answer {
  int code = EPROTO;
  std::string text;
};

/// In that process. The library's interface has been the same since it exists.
Answer ask_library(std::span<const uint8_t> build_id, const std::string& source) {
  void* library = dlopen(kLibrary, RTLD_NOW);
  if (library == nullptr) return {ENOSYS, std::string(kLibrary) + " is not installed"};
  auto* begin = reinterpret_cast<void* (*)()>(dlsym(library, "debuginfod_begin"));
  auto* find_debug = reinterpret_cast<int (*)(void*, const unsigned char*, int, char**)>(
      dlsym(library, "debuginfod_find_debuginfo"));
  auto* find_source = reinterpret_cast<int (*)(void*, const unsigned char*, int, const char*, char**)>(
      dlsym(library, "debuginfod_find_source"));
  void* client = begin != nullptr && find_debug != nullptr && find_source != nullptr ? begin() : nullptr;
  if (client == nullptr) return {ENOSYS, std::string(kLibrary) + " cannot be used"};
  char* path = nullptr;
  const int length = static_cast<int>(build_id.size());
  const int result = source.empty() ? find_debug(client, build_id.data(), length, &path)
                                    : find_source(client, build_id.data(), length, source.c_str(), &path);
  if (result < 0 || path == nullptr) return {result < 0 ? -result : EPROTO, ""};
  return {0, path};
}

[[noreturn]] void download(int answer_to, std::span<const uint8_t> build_id, const std::string& source,
                           uint64_t most_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGXFSZ, SIG_IGN);  // the library then sees that a write failed, and removes the file
  const rlimit file{most_bytes, most_bytes}, core{0, 0};
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; standard <= 2; ++standard) dup2(null, standard);
  Answer answer;
  if (null >= 0 && setrlimit(RLIMIT_FSIZE, &file) == 0 && setrlimit(RLIMIT_CORE, &core) == 0)
    answer = ask_library(build_id, source);
  std::string bytes(reinterpret_cast<const char*>(&answer.code), sizeof answer.code);
  bytes += answer.text.substr(0, kLongestAnswer);
  write_all(answer_to, bytes.data(), bytes.size());
  _exit(0);
}

/// All that comes until the other end is closed; nothing if that takes too long.
bool receive(int from, uint64_t until_ns, std::string* bytes) {
  for (;;) {
    const uint64_t now = monotonic_ns();
    pollfd event{from, POLLIN, 0};
    if (now >= until_ns) return false;
    if (poll(&event, 1, to_poll_ms(until_ns - now)) <= 0) continue;
    char buffer[512];
    const ssize_t count = read(from, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || bytes->size() > 2 * kLongestAnswer) return count == 0;
    bytes->append(buffer, static_cast<size_t>(count));
  }
}

Answer answer_in(const std::string& bytes) {
  Answer answer;
  if (bytes.size() < sizeof answer.code) return answer;
  memcpy(&answer.code, bytes.data(), sizeof answer.code);
  answer.text = bytes.substr(sizeof answer.code);
  return answer;
}

std::string text_of(const Answer& answer) {
  if (!answer.text.empty()) return answer.text;
  if (answer.code == EFBIG || answer.code == EIO) return "the file is larger than the limit";
  return strerror(answer.code);
}

}  // namespace

Result<std::vector<std::string>> parse_debuginfod_servers(std::string_view text) {
  std::vector<std::string> servers;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return servers;
    const std::string url(text.substr(0, text.find(' ')));
    if (!may_be_asked(url))
      return fail(EINVAL,
                  "debuginfod: %s is refused: write https://HOST, or http:// and this machine (127.0.0.1)",
                  url.c_str());
    servers.push_back(url);
    text.remove_prefix(url.size());
  }
}

Debuginfod::Debuginfod(std::vector<std::string> servers, Limits limits, Before before)
    : servers_(std::move(servers)),
      limits_(limits),
      before_(std::move(before)),
      left_ns_(limits.seconds * kNsPerSecond) {}

Result<std::string> Debuginfod::debug_information(std::span<const uint8_t> build_id,
                                                  const std::string& object_name) {
  if (before_) before_(object_name);
  return fetch(build_id, "");
}

Result<std::string> Debuginfod::source(std::span<const uint8_t> build_id, const std::string& path) {
  if (!path.starts_with('/')) return fail(ENOENT, "debuginfod: servers know absolute paths only");
  if (before_) before_(path);
  return fetch(build_id, path);
}

/// Sets the environment of the process that downloads. The user's own settings could exceed the
/// limits, or print.
void Debuginfod::set_environment(uint64_t seconds) const {
  std::string urls, direct = getenv("no_proxy") != nullptr ? getenv("no_proxy") : "";
  for (const std::string& server : servers_) {
    urls += (urls.empty() ? "" : " ") + server;
    if (server.starts_with("http://")) direct += (direct.empty() ? "" : ",") + std::string(host_of(server));
  }
  setenv("DEBUGINFOD_URLS", urls.c_str(), 1);
  setenv("no_proxy", direct.c_str(), 1);  // a proxy is not this machine
  setenv("DEBUGINFOD_MAXSIZE", std::to_string(limits_.file_bytes).c_str(), 1);
  for (const char* name : {"DEBUGINFOD_MAXTIME", "DEBUGINFOD_TIMEOUT"})
    setenv(name, std::to_string(seconds).c_str(), 1);
  for (const char* name : {"DEBUGINFOD_PROGRESS", "DEBUGINFOD_VERBOSE"}) unsetenv(name);
}

Result<std::string> Debuginfod::failed(int code, const std::string& text) {
  if (failure_.empty()) failure_ = text;
  return fail(code, "debuginfod: %s", text.c_str());
}

Result<std::string> Debuginfod::fetch(std::span<const uint8_t> build_id, const std::string& source) {
  if (left_ns_ == 0) return failed(ETIME, "the time is up");
  int ends[2];
  if (build_id.empty()) return fail(ENOENT, "debuginfod: it has no build id");
  if (pipe2(ends, O_CLOEXEC) != 0) return failed(errno, strerror(errno));
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const uint64_t start = monotonic_ns();
  const pid_t child = fork();
  if (child == 0) {
    set_environment(std::max<uint64_t>(left_ns_ / kNsPerSecond, 1));
    download(to.get(), build_id, source, limits_.file_bytes);
  }
  to.reset();
  std::string bytes;
  const bool in_time = child > 0 && receive(from.get(), start + left_ns_ + kGraceNs, &bytes);
  if (child > 0) {
    kill(child, SIGKILL);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  const uint64_t took = monotonic_ns() - start;
  left_ns_ -= std::min(left_ns_, took);
  const Answer answer = answer_in(bytes);
  if (answer.code == 0) return answer.text;
  if (answer.code == ENOENT) return fail(ENOENT, "debuginfod: the servers have none");
  if (!in_time || answer.code == ETIME || answer.code == ETIMEDOUT) {
    left_ns_ = 0;
    return failed(ETIME, "no answer within " + std::to_string(limits_.seconds) + " s");
  }
  return failed(answer.code, text_of(answer));
}

}  // namespace pctally
