#include "histread/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file_at.h"
#include "base/file/new_file.h"
#include "base/file/write_all.h"
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
    uint64_t at = unit_offset(process.unit) + offsetof(ProcessRecord, ticks);
    memcpy(bytes->data() + at, &process.ticks, sizeof process.ticks);
  }
}

/// Before the file takes the place of another one: after a power cut neither might be there. Some file
/// systems tell only now that there is no room (NFS, quotas). Some have nothing to wait for: EINVAL.
bool is_stored(int fd) { return fsync(fd) == 0 || errno == EINVAL; }

}  // namespace

void close_copy(FileCopy* copy) {
  FileHeader& header = copy->contents.header;
  if (header.state == FileState::kClosed) return;
  balance_account(&copy->contents);
  if (copy->recorder_alive) close_header(&header);
  auto units = static_cast<uint32_t>((copy->bytes.size() - kHeaderBytes) / kUnitBytes);
  header.pool = {units, units};
  copy->bytes.resize(unit_offset(units));
  memcpy(copy->bytes.data(), &header, sizeof header);
  store_processes(copy->contents.processes, &copy->bytes);
}

Result<void> write_profile(std::span<const unsigned char> bytes, const char* path, bool overwrite) {
  auto file = NewFile::create(profile_plan(path, overwrite));
  if (!file)
    return fail(file.error().code, "%s; %s", file.error().text,
                new_file_remedy(file.error().code, overwrite));
  if (!write_all(file->fd(), bytes.data(), bytes.size()) || !is_stored(file->fd())) {
    int error = errno;
    file->discard();
    const bool full = error == ENOSPC || error == EDQUOT;
    return fail(error, "cannot write %s: %s; %sname another place with -o", path, strerror(error),
                full ? "free some space, or " : "");
  }
  auto placed = file->place();
  if (!placed) file->discard();
  return placed;
}

Result<void> write_snapshot(const FileCopy& copy, const LiveFile& source, const char* path, bool overwrite) {
  if (overwrite && is_file_at(source.fd(), path))
    return fail(EINVAL, "%s is the recording itself; choose another name with -o", path);
  return write_profile(copy.bytes, path, overwrite);
}

}  // namespace pctally
