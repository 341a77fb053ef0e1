#include "histread/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "histfile/profile_file.h"

namespace pctally {
namespace {

void close_header(FileHeader* header) {
  header->state = FileState::kClosed;
  header->ended = 1;
  header->snapshot = 1;
  // A recording inside the program beats only now and then; its cells are complete to this moment.
  bool beaten = header->heartbeat_ns > header->started_ns;
  if (!beaten) header->heartbeat_ns = monotonic_ns();
  header->ended_ns = header->heartbeat_ns;
}

void store_processes(const std::vector<FileProcess>& processes, std::vector<unsigned char>* bytes) {
  for (const FileProcess& process : processes) {
    uint64_t at = kHeaderBytes + kUnitBytes * process.unit + offsetof(ProcessRecord, ticks);
    memcpy(bytes->data() + at, &process.ticks, sizeof process.ticks);
  }
}

/// Refuses to write over what is being read, by whatever name, and over anything but a regular file.
Result<void> remove_old(const LiveFile& source, const char* path) {
  struct stat old, own;
  if (lstat(path, &old) != 0) return {};
  if (!S_ISREG(old.st_mode))
    return fail(EEXIST, "%s is not a regular file: choose another name with -o", path);
  if (fstat(source.fd(), &own) == 0 && own.st_dev == old.st_dev && own.st_ino == old.st_ino)
    return fail(EINVAL, "%s is the recording itself: choose another name with -o", path);
  if (unlink(path) != 0) return fail(errno, "cannot replace %s: %s", path, strerror(errno));
  return {};
}

bool write_part(int fd, const unsigned char* bytes, uint64_t from, uint64_t to) {
  while (from < to) {
    ssize_t written = pwrite(fd, bytes + from, to - from, static_cast<off_t>(from));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += static_cast<uint64_t>(written);
  }
  return true;
}

Result<UniqueFd> create(const char* path) {
  UniqueFd fd(open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd.valid()) {
    fchmod(fd.get(), 0600);
    return fd;
  }
  if (errno == EEXIST)
    return fail(EEXIST, "%s exists: choose another name with -o, or overwrite it with -f", path);
  return fail(errno, "cannot create %s: %s; choose another place with -o", path, strerror(errno));
}

}  // namespace

void close_copy(FileCopy* copy) {
  FileHeader& header = copy->contents.header;
  if (header.state == FileState::kClosed) return;
  settle_account(&copy->contents);
  if (copy->recorder_alive) close_header(&header);
  auto units = static_cast<uint32_t>((copy->bytes.size() - kHeaderBytes) / kUnitBytes);
  header.pool = {units, units};
  copy->bytes.resize(kHeaderBytes + kUnitBytes * units);
  memcpy(copy->bytes.data(), &header, sizeof header);
  store_processes(copy->contents.processes, &copy->bytes);
}

Result<void> write_snapshot(const FileCopy& copy, const LiveFile& source, const char* path, bool overwrite) {
  if (overwrite) {
    if (auto removed = remove_old(source, path); !removed) return removed;
  }
  auto fd = create(path);
  if (!fd) return std::unexpected(fd.error());
  const unsigned char* bytes = copy.bytes.data();
  if (write_part(fd->get(), bytes, kHeaderBytes, copy.bytes.size()) &&
      write_part(fd->get(), bytes, 0, kHeaderBytes))
    return {};
  int error = errno;
  unlink(path);
  return fail(error, "cannot write %s: %s; free some space or choose another place with -o", path,
              strerror(error));
}

}  // namespace pctally
