#include "task/file_helper.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/file/passed_descriptor.h"
#include "base/file/process_root.h"
#include "base/file/read_all.h"
#include "base/file/stat_at_once.h"
#include "base/kernel/device_number.h"
#include "base/time_ns.h"
#include "perf/process_tree.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

constexpr int kPatienceMs = 2000;  ///< a cold disk takes long, and who is lost does not come back
constexpr int kDeathMs = 200;      ///< for a process that was killed to end

enum Question : int { kView, kFacts, kFile, kPart, kRead, kImages, kTrampolineAt, kMaps };

}  // namespace

struct FileRequest {
  int question = kView;
  pid_t pid = 0;
  uint64_t offset = 0;
  char rest[PATH_MAX] = {};  ///< a path, or addresses
};

namespace {

struct Reply {
  int error = 0;
  FileView view{};
  FileFacts facts{};
  uint32_t part_bytes = 0;
  char part[FileHelper::kBlockBytes];  ///< so many of them are sent
};

bool is_executable(const Elf64_Ehdr& head) {
  return memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_type != ET_CORE;
}

bool is_executable(int fd) {
  Elf64_Ehdr head{};  // the type is at one place in both classes
  if (pread(fd, &head, sizeof head, 0) < static_cast<ssize_t>(offsetof(Elf64_Ehdr, e_machine))) return false;
  return is_executable(head);
}

bool is_jit_dump(int fd) {
  char magic[4];
  if (pread(fd, magic, sizeof magic, 0) != sizeof magic) return false;
  return memcmp(magic, "DTiJ", sizeof magic) == 0 || memcmp(magic, "JiTD", sizeof magic) == 0;
}

bool is_perf_map(const char* path) {
  const char* name = strrchr(path, '/');
  if (name == nullptr || strncmp(name, "/perf-", 6) != 0) return false;
  const size_t digits = strspn(name + 6, "0123456789");
  return digits > 0 && strcmp(name + 6 + digits, ".map") == 0;
}

/// What has the name of a perf map is one by nothing else: a link of that name is not followed.
UniqueFd open_checked(const char* path) {
  struct stat status;
  const bool by_name = is_perf_map(path);
  auto fd = open_regular_file(path, &status, by_name ? O_NOFOLLOW : 0);
  if (fd && (by_name || is_executable(fd->get()) || is_jit_dump(fd->get()))) return std::move(*fd);
  errno = fd ? ENOEXEC : fd.error().code;
  return {};
}

int find_view(pid_t pid, FileView* view) {
  struct statx mounts, root;
  if (!stat_at_once(AT_FDCWD, (directory_of(pid) + "/ns/mnt").c_str(), &mounts)) return errno;
  if (!stat_at_once(AT_FDCWD, (directory_of(pid) + "/root").c_str(), &root)) return errno;
  *view = {mounts.stx_ino, device_number(root), root.stx_ino};
  return 0;
}

int find_facts(const char* path, FileFacts* facts) {
  struct stat status;
  const UniqueFd place = find_place(path);
  if (!place.valid() || fstat(place.get(), &status) != 0) return errno;
  *facts = {device_number(status.st_dev), status.st_ino, static_cast<uint64_t>(status.st_size),
            to_ns(status.st_mtim)};
  return 0;
}

int read_at(const UniqueFd& fd, uint64_t offset, size_t most, Reply* reply) {
  const ssize_t bytes = fd.valid() ? read_all_at(fd.get(), offset, reply->part, most) : -1;
  if (bytes < 0) return errno;
  reply->part_bytes = static_cast<uint32_t>(bytes);
  return 0;
}

/// Not by /proc/PID/mem: that keeps the process from mapping anything while a file system does not answer.
int read_memory(pid_t pid, uint64_t address, void* to, size_t bytes) {
  iovec here{to, bytes}, there{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  if (got < 0) return errno;
  return static_cast<size_t>(got) == bytes ? 0 : EFAULT;
}

/// One that cannot be read says nothing of the others, unless none of them can. Their number is the `offset`.
int read_images(const FileRequest& request, Reply* reply) {
  uint64_t addresses[FileHelper::kMostImages];
  memcpy(addresses, request.rest, sizeof addresses);
  for (size_t i = 0; i < std::min(request.offset, FileHelper::kMostImages); ++i) {
    char* page = reply->part + reply->part_bytes;
    Elf64_Ehdr head{};
    const int error = read_memory(request.pid, addresses[i], page, kElfPartBytes);
    if (error == EPERM || error == ESRCH) return error;
    memcpy(&head, page, sizeof head);
    if (error != 0 || !is_executable(head)) memset(page, 0, kElfPartBytes);
    reply->part_bytes += kElfPartBytes;
  }
  return 0;
}

/// Nothing else is said of the bytes there.
int find_trampoline(pid_t pid, uint64_t address) {
  unsigned char bytes[kTrampolineBytes];
  const int error = read_memory(pid, address, bytes, sizeof bytes);
  if (error != 0) return error;
  return memcmp(bytes, kTrampoline, sizeof bytes) == 0 ? 0 : ENOEXEC;
}

/// `given`: what came with the question.
UniqueFd answer(const FileRequest& request, const UniqueFd& given, Reply* reply) {
  UniqueFd fd;
  const int question = request.question;
  if (question == kView) reply->error = find_view(request.pid, &reply->view);
  if (question == kFacts) reply->error = find_facts(request.rest, &reply->facts);
  if (question == kFile) fd = open_checked(request.rest);
  if (question == kPart)
    reply->error = read_at(open_checked(request.rest), request.offset, kElfPartBytes, reply);
  if (question == kRead)
    reply->error = given.valid() ? read_at(given, request.offset, sizeof reply->part, reply) : EBADF;
  if (question == kImages) reply->error = read_images(request, reply);
  if (question == kTrampolineAt) reply->error = find_trampoline(request.pid, request.offset);
  if (question == kMaps) fd.reset(open((directory_of(request.pid) + "/maps").c_str(), O_RDONLY | O_CLOEXEC));
  if ((question == kFile || question == kMaps) && !fd.valid()) reply->error = errno;
  return fd;
}

void keep_rights() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capget, &header, sets) != 0) _exit(1);
  const uint32_t kept = sets[0].permitted & (1u << CAP_SYS_PTRACE | 1u << CAP_DAC_READ_SEARCH);
  const uint32_t kept_above = sets[1].permitted & 1u << (CAP_CHECKPOINT_RESTORE - 32);
  sets[0] = {kept, kept, 0};
  sets[1] = {kept_above, kept_above, 0};
  if (syscall(SYS_capset, &header, sets) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) _exit(1);
}

[[noreturn]] void serve(int socket) noexcept {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);  // what is sent to our group is the recorder's business
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "pctally-files");
  const rlimit no_core{};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto kept = static_cast<unsigned>(socket);
  if (kept > 0) syscall(SYS_close_range, 0u, kept - 1, 0u);
  syscall(SYS_close_range, kept + 1, UINT_MAX, 0u);
  keep_rights();
  for (;;) {
    FileRequest request;
    UniqueFd given;
    const ssize_t bytes = receive_with_descriptor(socket, -1, &request, sizeof request - 1, 0, &given);
    if (bytes < static_cast<ssize_t>(offsetof(FileRequest, rest))) _exit(0);
    Reply reply;
    const UniqueFd fd = answer(request, given, &reply);
    iovec part{&reply, offsetof(Reply, part) + reply.part_bytes};
    if (send_with_descriptor(socket, &part, 1, fd.get()) < 0) _exit(0);
  }
}

/// After kill(2). `process`: its pidfd.
void await_end(pid_t killed, int process) noexcept {
  while (waitpid(killed, nullptr, WNOHANG) == 0) {
    pollfd event{process, POLLIN, 0};
    if (poll(&event, 1, kDeathMs) == 0 && is_held_in_kernel(killed)) return;  // a descriptor of -1 waits, too
  }
}

template <class T>
Result<T> found_or(int error, const T& value) {
  if (error != 0) return fail(error, "%s", strerror(error));
  return value;
}

}  // namespace

Result<FileView> read_view(pid_t pid) {
  FileView view;
  const int error = find_view(pid, &view);
  return found_or(error, view);
}

Result<FileFacts> read_facts(const std::string& path) {
  FileFacts facts;
  const int error = find_facts(path.c_str(), &facts);
  return found_or(error, facts);
}

std::optional<bool> read_trampoline(pid_t pid, uint64_t address) {
  const int error = find_trampoline(pid, address);
  return error == 0 || error == ENOEXEC ? std::optional(error == 0) : std::nullopt;
}

struct FileHelper::Answer {
  FileView view;
  FileFacts facts;
  std::string part;
  UniqueFd fd;
};

Result<void> FileHelper::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(errno, "socketpair: %s", strerror(errno));
  UniqueFd ours(ends[0]), theirs(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return fail(errno, "fork: %s", strerror(errno));
  if (pid == 0) serve(theirs.get());
  socket_ = std::move(ours);
  process_.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  pid_ = pid;
  started_ = true;
  return {};
}

/// False if it has ended, and who waits for all children (record --wait) has had it: its number may be
/// another's.
bool FileHelper::kill_it() noexcept {
  if (syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0) == 0) return true;
  return errno != ESRCH && kill(pid_, SIGKILL) == 0;  // ESRCH: of a pidfd that there is
}

void FileHelper::end() noexcept {
  if (pid_ <= 0) return;
  socket_.reset();
  if (kill_it()) await_end(pid_, process_.get());
  process_.reset();
  pid_ = -1;
}

/// `fd`: goes with it; -1: none.
Result<FileHelper::Answer> FileHelper::ask(const FileRequest& request, size_t rest_bytes, int fd) {
  if (!runs()) return fail(EPIPE, "nobody opens files");
  Answer answer;
  Reply reply;
  constexpr size_t kHead = offsetof(Reply, part);
  iovec question{const_cast<FileRequest*>(&request), offsetof(FileRequest, rest) + rest_bytes};
  const bool sent = send_with_descriptor(socket_.get(), &question, 1, fd, MSG_DONTWAIT) > 0;
  const ssize_t bytes = sent ? receive_with_descriptor(socket_.get(), kPatienceMs, &reply, sizeof reply,
                                                       MSG_DONTWAIT, &answer.fd)
                             : -1;
  if (bytes < static_cast<ssize_t>(kHead) || static_cast<size_t>(bytes) != kHead + reply.part_bytes) {
    end();
    return fail(EPIPE, "the helper does not answer");
  }
  if (reply.error != 0) return fail(reply.error, "%s", strerror(reply.error));
  answer.view = reply.view;
  answer.facts = reply.facts;
  answer.part.assign(reply.part, reply.part_bytes);
  return answer;
}

Result<FileHelper::Answer> FileHelper::ask(int question, pid_t pid, std::string_view path, uint64_t offset) {
  FileRequest request{question, pid, offset};
  if (path.size() >= sizeof request.rest) return fail(ENAMETOOLONG, "%s", strerror(ENAMETOOLONG));
  memcpy(request.rest, path.data(), path.size());
  return ask(request, path.size());
}

Result<FileView> FileHelper::view_of(pid_t pid) {
  const auto answer = ask(kView, pid, {});
  if (!answer) return std::unexpected(answer.error());
  return answer->view;
}

Result<FileFacts> FileHelper::facts_of(std::string_view path) {
  const auto answer = ask(kFacts, 0, path);
  if (!answer) return std::unexpected(answer.error());
  return answer->facts;
}

Result<UniqueFd> FileHelper::open_file(std::string_view path) {
  auto answer = ask(kFile, 0, path);
  if (!answer) return std::unexpected(answer.error());
  return std::move(answer->fd);
}

Result<std::string> FileHelper::read_part(std::string_view path, uint64_t offset) {
  auto answer = ask(kPart, 0, path, offset);
  if (!answer) return std::unexpected(answer.error());
  return std::move(answer->part);
}

Result<std::string> FileHelper::read_file(int fd, uint64_t offset) {
  auto answer = ask(FileRequest{kRead, 0, offset}, 0, fd);
  if (!answer) return std::unexpected(answer.error());
  return std::move(answer->part);
}

Result<std::string> FileHelper::read_images(pid_t pid, std::span<const uint64_t> addresses) {
  FileRequest request{kImages, pid, addresses.size()};
  memcpy(request.rest, addresses.data(), addresses.size_bytes());
  auto answer = ask(request, addresses.size_bytes());
  if (!answer) return std::unexpected(answer.error());
  answer->part.resize(addresses.size() * kElfPartBytes);
  return std::move(answer->part);
}

Result<bool> FileHelper::has_trampoline(pid_t pid, uint64_t address) {
  const auto answer = ask(kTrampolineAt, pid, {}, address);
  if (!answer && answer.error().code != ENOEXEC) return std::unexpected(answer.error());
  return answer.has_value();
}

Result<UniqueFd> FileHelper::open_maps(pid_t pid) {
  auto answer = ask(kMaps, pid, {});
  if (!answer) return std::unexpected(answer.error());
  return std::move(answer->fd);
}

}  // namespace pctally
