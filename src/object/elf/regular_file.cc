#include "object/elf/regular_file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "object/elf/file_server.h"

namespace pctally {
namespace {

constexpr off_t kLargestCopy = off_t{1} << 30;

/// Splits "/proc/N/root/rest"; false if it is no such path.
bool split_root(const std::string& path, std::string* root, std::string* rest) {
  if (!path.starts_with("/proc/")) return false;
  const size_t number_end = path.find_first_not_of("0123456789", 6);
  if (number_end == 6 || number_end == std::string::npos || path.compare(number_end, 6, "/root/") != 0)
    return false;
  *root = path.substr(0, number_end + 5);
  *rest = path.substr(number_end + 6);
  return true;
}

FileOpener g_opener = nullptr;

/// A descriptor that names the file without opening it.
UniqueFd look_up(const std::string& path, int flags) {
  std::string root, rest;
  if (!split_root(path, &root, &rest)) return UniqueFd(open(path.c_str(), flags));
  UniqueFd top(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return top;
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, top.get(), rest.c_str(), &how, sizeof how)));
}

void read_a_byte(const std::string& path, LastLink last) {
  struct stat status;
  const auto fd = open_regular_here(path, &status, last);
  char byte;
  if (fd) (void)!read(fd->get(), &byte, 1);
}

}  // namespace

void set_file_opener(FileOpener opener) noexcept { g_opener = opener; }

Result<UniqueFd> open_regular(const std::string& path, struct stat* status, LastLink last) {
  if (g_opener == nullptr) {
    const auto read = [&] { read_a_byte(path, last); };
    if (!file_server_answers(path, read))
      return fail(ETIMEDOUT, "cannot open %s: its file system does not answer", path.c_str());
    return open_regular_here(path, status, last);
  }
  auto fd = g_opener(path, status, last);
  if (!fd || (fstat(fd->get(), status) == 0 && S_ISREG(status->st_mode))) return fd;
  return fail(EINVAL, "%s is not a regular file", path.c_str());
}

Result<UniqueFd> open_regular_here(const std::string& path, struct stat* status, LastLink last) {
  UniqueFd place = look_up(path, O_PATH | O_CLOEXEC | (last == LastLink::kRefuse ? O_NOFOLLOW : 0));
  if (!place.valid()) return fail(errno, "cannot open %s: %s", path.c_str(), strerror(errno));
  if (fstat(place.get(), status) != 0 || !S_ISREG(status->st_mode)) {
    return fail(EINVAL, "%s is not a regular file", path.c_str());
  }
  const std::string link = "/proc/self/fd/" + std::to_string(place.get());
  UniqueFd fd(open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path.c_str(), strerror(errno));
  return fd;
}

/// A mapping whose pages may vanish with the end of its file.
struct FileBytes::Guard {
  unsigned char* data;
  size_t bytes;
  bool shrank = false;
  Guard* next = nullptr;

  static Guard* first;
  static struct sigaction before;
  static void watch(Guard* guard);
  static void on_bus_error(int signal, siginfo_t* info, void* context);
};

FileBytes::Guard* FileBytes::Guard::first = nullptr;
struct sigaction FileBytes::Guard::before {};

/// Puts zeros in the place of all from the page touched to the end; the access is then repeated. An error
/// elsewhere is passed to whom it would have gone to.
void FileBytes::Guard::on_bus_error(int signal, siginfo_t* info, void* context) {
  const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
  const auto page = static_cast<uintptr_t>(getpagesize());
  for (Guard* guard = first; guard != nullptr; guard = guard->next) {
    const auto start = reinterpret_cast<uintptr_t>(guard->data), end = start + guard->bytes;
    if (at < start || at >= end) continue;
    const uintptr_t from = at & ~(page - 1);
    void* zeros = mmap(reinterpret_cast<void*>(from), end - from, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) break;
    guard->shrank = true;
    return;
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    before.sa_sigaction(signal, info, context);
  else
    sigaction(SIGBUS, &before, nullptr);  // the access is repeated, and ends as it would have
}

void FileBytes::Guard::watch(Guard* guard) {
  static const bool installed = [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    return sigaction(SIGBUS, &action, &before) == 0;
  }();
  (void)installed;
  guard->next = first;
  first = guard;
}

void FileBytes::Release::operator()(Guard* guard) const noexcept {
  for (Guard** at = &Guard::first; *at != nullptr; at = &(*at)->next) {
    if (*at != guard) continue;
    *at = guard->next;
    break;
  }
  munmap(guard->data, guard->bytes);
  delete guard;
}

bool FileBytes::shrank() const noexcept { return guard_ && guard_->shrank; }

Result<FileBytes> FileBytes::open(const std::string& path, Trust trust) {
  FileBytes file;
  auto fd = open_regular(path, &file.status_);
  if (!fd) return std::unexpected(fd.error());
  const struct stat& status = file.status_;
  const auto bytes = static_cast<size_t>(status.st_size);
  const bool trusted = status.st_uid == 0 || status.st_uid == geteuid();
  if (!trusted && trust == Trust::kRootOrOurselves)
    return fail(kStrangersFile, "%s belongs to another user (run this as that user)", path.c_str());
  if (!trusted && status.st_size <= kLargestCopy) {
    file.copy_.resize(bytes);
    size_t length = 0;
    for (ssize_t count; length < bytes; length += static_cast<size_t>(count)) {
      count = pread(fd->get(), file.copy_.data() + length, bytes - length, static_cast<off_t>(length));
      if (count <= 0) break;
    }
    file.copy_.resize(length);
    file.bytes_ = file.copy_;
    return file;
  }
  if (bytes == 0) return file;
  // libelf writes into what it is given when it uncompresses sections.
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd->get(), 0);
  if (data == MAP_FAILED) return fail(errno, "cannot map %s: %s", path.c_str(), strerror(errno));
  file.guard_.reset(new Guard{static_cast<unsigned char*>(data), bytes});
  Guard::watch(file.guard_.get());
  file.bytes_ = {file.guard_->data, bytes};
  return file;
}

}  // namespace pctally
