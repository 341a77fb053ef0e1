#include "process/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/task_list.h"
#include "base/kernel/device_number.h"
#include "base/kernel/proc_file.h"
#include "base/kernel/vdso_path.h"
#include "process/maps_line.h"

namespace pctally {
namespace {

/// The kernel writes the end of a line in a path as "\012", and nothing else otherwise than it is.
void restore_ends_of_lines(char* path) noexcept {
  constexpr char kEnd[] = "\\012";
  constexpr size_t kBytes = sizeof kEnd - 1;
  for (char* at = path; (at = strstr(at, kEnd)) != nullptr;) {
    *at++ = '\n';
    memmove(at, at + kBytes - 1, strlen(at + kBytes - 1) + 1);
  }
}

ObjectKind kind_of(const MapsLine& line) noexcept {
  if (strcmp(line.path, "[vdso]") == 0) return ObjectKind::kVdso;
  return line.inode != 0 && !is_anonymous(line.path) ? ObjectKind::kFile : ObjectKind::kPrivate;
}

}  // namespace

void stamp_file(ObjectIdentity* object) noexcept {
  if (object->kind != ObjectKind::kFile || object->build_id_bytes != 0 || object->inode == 0) return;
  char path[4096];
  if (object->path.size() >= sizeof path) return;
  memcpy(path, object->path.data(), object->path.size());
  path[object->path.size()] = '\0';
  struct stat status;
  if (stat(path, &status) != 0 || status.st_ino != object->inode) return;
  object->device = device_number(status.st_dev);
  object->file_bytes = static_cast<uint64_t>(status.st_size);
  object->time_unix_ns = to_ns(status.st_mtim);
}

UniqueFd ProcMaps::open_file(const char* name) const noexcept {
  if (!by_this_thread_) return open_proc_file(pid_, name);
  char path[32] = "/proc/thread-self/";
  strcpy(path + strlen(path), name);
  return UniqueFd(open(path, O_RDONLY | O_CLOEXEC));
}

bool ProcMaps::read_text(const UniqueFd& fd) noexcept {
  text_.clear();
  char chunk[4096];
  for (ssize_t bytes; (bytes = read(fd.get(), chunk, sizeof chunk)) > 0;) {
    if (!text_.reserve(text_.size() + static_cast<size_t>(bytes) + 1)) return false;
    for (ssize_t i = 0; i < bytes; ++i) (void)text_.push_back(chunk[i]);
  }
  return text_.size() > 0 && text_.push_back('\0');
}

/// Where the main thread has ended by pthread_exit(3), the files of the process are empty, or ESRCH; those of
/// another thread are not. /proc has a directory for each thread, too.
bool ProcMaps::read_maps_of_a_thread() noexcept {
  if (pid_ == 0) {
    by_this_thread_ = true;
    return read_text(open_file("maps"));
  }
  MappedArray<pid_t> threads;
  (void)list_tasks(open_proc_file(pid_, "task"), &threads);
  for (const pid_t thread : threads) {
    if (thread == pid_ || !read_text(open_proc_file(thread, "maps"))) continue;
    pid_ = thread;
    return true;
  }
  return false;
}

bool ProcMaps::read_maps() noexcept {
  const UniqueFd fd = given_.valid() ? std::move(given_) : open_file("maps");
  if (!fd.valid() && errno != ESRCH) return false;
  return (fd.valid() && read_text(fd)) || read_maps_of_a_thread();
}

bool ProcMaps::next(size_t* position, ExecutableMapping* mapping) noexcept {
  while (*position + 1 < text_.size()) {
    char* line = text_.data() + *position;
    char* end = strchr(line, '\n');
    size_t length = end == nullptr ? strlen(line) : static_cast<size_t>(end - line);
    line[length] = '\0';
    *position += length + 1;
    const MapsLine fields = parse_maps_line(line);
    if (fields.offset == 0 && fields.inode != 0) {
      header_address_ = fields.start;
      header_inode_ = fields.inode;
    }
    if (!fields.executable) continue;
    restore_ends_of_lines(line + (fields.path - line));
    *mapping = ExecutableMapping{};
    mapping->start = fields.start;
    mapping->end = fields.end;
    mapping->file_offset = fields.offset;
    mapping->object.kind = kind_of(fields);
    mapping->object.path = fields.path;
    mapping->object.device = fields.device;
    mapping->object.inode = fields.inode;
    if (mapping->object.kind == ObjectKind::kVdso) mapping->object.path = vdso_path(mapping->end);
    const bool has_header = mapping->object.kind == ObjectKind::kFile && header_inode_ == fields.inode;
    mapping->header = has_header ? header_address_ : 0;
    if (has_header && build_ids_ == BuildIds::kRead) read_build_id(mapping);
    if (pid_ == 0) stamp_file(&mapping->object);
    return true;
  }
  return false;
}

ssize_t ProcMaps::read_memory(uint64_t address, void* to, size_t bytes) noexcept {
  if (!memory_.valid()) memory_ = open_file("mem");
  if (!memory_.valid()) return -1;
  return pread(memory_.get(), to, bytes, static_cast<off_t>(address));
}

bool is_anonymous(std::string_view path) noexcept {
  if (path.empty() || path[0] != '/') return path != "[vdso]";
  for (std::string_view start : {"//", "/dev/zero", "/SYSV", "/anon_hugepage", "/memfd:doublemapper"})
    if (path.substr(0, start.size()) == start) return true;
  return false;
}

/// From the notes of the object as it is in memory: the file may have been replaced since.
/// Its segments lie elsewhere there than in the file: what follows the first page is not looked for.
void ProcMaps::read_build_id(ExecutableMapping* mapping) noexcept {
  struct Header {
    ProcMaps* maps;
    uint64_t address;
    bool read;
  } header{this, mapping->header, false};
  const auto read = [](void* of, uint64_t offset, void* to, size_t bytes) {
    auto* asked = static_cast<Header*>(of);
    if (offset != 0) return ssize_t{-1};
    const ssize_t got = asked->maps->read_memory(asked->address, to, bytes);
    asked->read = got > 0;
    return got;
  };
  mapping->object.build_id = mapping->build_id;
  mapping->object.build_id_bytes = pctally::read_build_id(read, &header, mapping->build_id);
  mapping->header_read = header.read;
}

}  // namespace pctally
