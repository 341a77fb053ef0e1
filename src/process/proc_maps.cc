#include "process/proc_maps.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "base/device_number.h"
#include "base/proc_file.h"
#include "base/vdso_path.h"

namespace pctally {
namespace {

/// A number in base 16 or 10 at *text, which moves behind it and one separator.
uint64_t number(const char** text, unsigned base) noexcept {
  uint64_t value = 0;
  const char* at = *text;
  for (;; ++at) {
    unsigned digit = *at >= '0' && *at <= '9'   ? static_cast<unsigned>(*at - '0')
                     : *at >= 'a' && *at <= 'f' ? static_cast<unsigned>(*at - 'a') + 10
                                                : base;
    if (digit >= base) break;
    value = value * base + digit;
  }
  *text = *at == '\0' ? at : at + 1;
  return value;
}

struct MapsLine {
  uint64_t start, end, offset, device, inode;
  bool executable;
  const char* path;
};

/// "start-end perms offset major:minor inode   path"
MapsLine parse_line(const char* line) noexcept {
  MapsLine fields{};
  fields.start = number(&line, 16);
  fields.end = number(&line, 16);
  fields.executable = line[0] != '\0' && line[1] != '\0' && line[2] == 'x';
  while (*line != '\0' && *line != ' ') ++line;
  while (*line == ' ') ++line;
  fields.offset = number(&line, 16);
  fields.device = number(&line, 16) << 32;
  fields.device |= number(&line, 16);
  fields.inode = number(&line, 10);
  while (*line == ' ') ++line;
  fields.path = line;
  return fields;
}

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

bool ProcMaps::read_maps() noexcept {
  UniqueFd fd = given_.valid() ? std::move(given_) : open_proc_file(pid_, "maps");
  if (!fd.valid()) return false;
  text_.clear();
  char chunk[4096];
  for (ssize_t bytes; (bytes = read(fd.get(), chunk, sizeof chunk)) > 0;) {
    if (!text_.reserve(text_.size() + static_cast<size_t>(bytes) + 1)) return false;
    for (ssize_t i = 0; i < bytes; ++i) (void)text_.push_back(chunk[i]);
  }
  return text_.size() > 0 && text_.push_back('\0');
}

bool ProcMaps::next(size_t* position, ExecutableMapping* mapping) noexcept {
  while (*position + 1 < text_.size()) {
    char* line = text_.data() + *position;
    char* end = strchr(line, '\n');
    size_t length = end == nullptr ? strlen(line) : static_cast<size_t>(end - line);
    line[length] = '\0';
    *position += length + 1;
    MapsLine fields = parse_line(line);
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
    if (mapping->object.kind == ObjectKind::kFile) read_build_id(mapping);
    if (pid_ == 0) stamp_file(&mapping->object);
    return true;
  }
  return false;
}

ssize_t ProcMaps::read_memory(uint64_t address, void* to, size_t bytes) noexcept {
  if (!memory_.valid()) memory_ = open_proc_file(pid_, "mem");
  if (!memory_.valid()) return -1;
  return pread(memory_.get(), to, bytes, static_cast<off_t>(address));
}

bool is_anonymous(std::string_view path) noexcept {
  if (path.empty() || path[0] != '/') return path != "[vdso]";
  for (std::string_view start : {"//", "/dev/zero", "/SYSV", "/anon_hugepage", "/memfd:doublemapper"})
    if (path.substr(0, start.size()) == start) return true;
  return false;
}

/// The id in the notes [note, end) of `page`, or 0.
static uint32_t id_in_notes(const char* page, uint64_t note, uint64_t end, uint8_t* id) noexcept {
  ElfW(Nhdr) header;
  while (note < end && end - note >= sizeof header) {
    memcpy(&header, page + note, sizeof header);
    uint64_t name = note + sizeof header;
    uint64_t text = name + ((uint64_t{header.n_namesz} + 3) & ~uint64_t{3});
    if (text > end || header.n_descsz > end - text) return 0;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && memcmp(page + name, "GNU", 4) == 0 &&
        header.n_descsz <= kBuildIdBytes) {
      memcpy(id, page + text, header.n_descsz);
      return header.n_descsz;
    }
    note = text + ((uint64_t{header.n_descsz} + 3) & ~uint64_t{3});
  }
  return 0;
}

uint32_t find_build_id(const char* page, size_t held, uint8_t* id) noexcept {
  ElfW(Ehdr) header;
  if (held < sizeof header) return 0;
  memcpy(&header, page, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    uint64_t at = header.e_phoff + uint64_t{i} * sizeof segment;
    if (at > held || held - at < sizeof segment) return 0;
    memcpy(&segment, page + at, sizeof segment);
    uint64_t end = segment.p_offset + segment.p_filesz;
    if (segment.p_type != PT_NOTE || end > held || end < segment.p_offset) continue;
    if (uint32_t length = id_in_notes(page, segment.p_offset, end, id); length != 0) return length;
  }
  return 0;
}

/// From the notes of the object as it is in memory: the file may have been replaced since.
void ProcMaps::read_build_id(ExecutableMapping* mapping) noexcept {
  if (header_inode_ != mapping->object.inode) return;
  alignas(ElfW(Ehdr)) char page[kElfStartBytes];
  ssize_t bytes = read_memory(header_address_, page, sizeof page);
  if (bytes <= 0) return;
  uint32_t length = find_build_id(page, static_cast<size_t>(bytes), mapping->build_id);
  if (length == 0) return;
  mapping->object.build_id = mapping->build_id;
  mapping->object.build_id_bytes = length;
}

}  // namespace pctally
