#include "object/elf/regular_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/file/process_root.h"
#include "base/file/read_all.h"
#include "object/elf/file_server.h"

namespace pctally {
namespace {

constexpr off_t kLargestCopy = off_t{1} << 30;

FileOpener g_opener = nullptr;

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
  return fail(ENOTSUP, "%s is not a regular file", path.c_str());
}

Result<UniqueFd> open_regular_here(const std::string& path, struct stat* status, LastLink last) {
  return open_regular_file(path.c_str(), status, last == LastLink::kRefuse ? O_NOFOLLOW : 0);
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

/// Puts zeros in place of all from the page touched to the end; the access is then repeated. An error
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
    return fail(kOtherUsersFile, "%s belongs to another user (run this as that user)", path.c_str());
  if (!trusted && status.st_size <= kLargestCopy) {
    file.copy_.resize(bytes);
    const ssize_t length = read_all_at(fd->get(), 0, file.copy_.data(), bytes);
    if (length < 0) return fail(errno, "cannot read %s: %s", path.c_str(), strerror(errno));
    file.copy_.resize(static_cast<size_t>(length));
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
