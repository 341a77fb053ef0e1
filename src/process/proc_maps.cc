#include "process/proc_maps.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

namespace pctally {
namespace {

UniqueFd open_proc(pid_t pid, const char* name) noexcept {
  char path[64];
  if (pid == 0)
    snprintf(path, sizeof path, "/proc/self/%s", name);
  else
    snprintf(path, sizeof path, "/proc/%d/%s", static_cast<int>(pid), name);
  return UniqueFd(open(path, O_RDONLY | O_CLOEXEC));
}

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

ObjectKind kind_of(const MapsLine& line) noexcept {
  if (strcmp(line.path, "[vdso]") == 0) return ObjectKind::kVdso;
  return line.inode != 0 ? ObjectKind::kFile : ObjectKind::kPrivate;
}

}  // namespace

bool TextWatch::read_maps() noexcept {
  UniqueFd fd = open_proc(pid_, "maps");
  if (!fd.valid()) return false;
  text_.clear();
  char chunk[4096];
  for (ssize_t bytes; (bytes = read(fd.get(), chunk, sizeof chunk)) > 0;) {
    if (!text_.reserve(text_.size() + static_cast<size_t>(bytes) + 1)) return false;
    for (ssize_t i = 0; i < bytes; ++i) (void)text_.push_back(chunk[i]);
  }
  return text_.size() > 0 && text_.push_back('\0');
}

bool TextWatch::next(size_t* position, ExecutableMapping* mapping) noexcept {
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
    *mapping = ExecutableMapping{};
    mapping->start = fields.start;
    mapping->end = fields.end;
    mapping->file_offset = fields.offset;
    mapping->object.kind = kind_of(fields);
    mapping->object.path = fields.path;
    mapping->object.device = fields.device;
    mapping->object.inode = fields.inode;
    if (mapping->object.kind == ObjectKind::kFile) read_build_id(mapping);
    return true;
  }
  return false;
}

ssize_t TextWatch::read_memory(uint64_t address, void* to, size_t bytes) noexcept {
  if (!memory_.valid()) memory_ = open_proc(pid_, "mem");
  if (!memory_.valid()) return -1;
  return pread(memory_.get(), to, bytes, static_cast<off_t>(address));
}

/// From the notes of the object as it is in memory: the file may have been replaced since.
void TextWatch::read_build_id(ExecutableMapping* mapping) noexcept {
  if (header_inode_ != mapping->object.inode) return;
  alignas(ElfW(Ehdr)) char page[4096];
  ssize_t bytes = read_memory(header_address_, page, sizeof page);
  ElfW(Ehdr) header;
  if (bytes < static_cast<ssize_t>(sizeof header)) return;
  memcpy(&header, page, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  auto held = static_cast<uint64_t>(bytes);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    uint64_t at = header.e_phoff + uint64_t{i} * sizeof segment;
    if (at > held || held - at < sizeof segment) return;
    memcpy(&segment, page + at, sizeof segment);
    if (segment.p_type != PT_NOTE) continue;
    uint64_t note = segment.p_offset, end = segment.p_offset + segment.p_filesz;
    ElfW(Nhdr) note_header;
    while (note < end && end <= held && end - note >= sizeof note_header) {
      memcpy(&note_header, page + note, sizeof note_header);
      uint64_t name = note + sizeof note_header;
      uint64_t text = name + ((uint64_t{note_header.n_namesz} + 3) & ~uint64_t{3});
      if (text > end || note_header.n_descsz > end - text) break;
      if (note_header.n_type == NT_GNU_BUILD_ID && note_header.n_namesz == 4 &&
          memcmp(page + name, "GNU", 4) == 0 && note_header.n_descsz <= sizeof mapping->build_id) {
        memcpy(mapping->build_id, page + text, note_header.n_descsz);
        mapping->object.build_id = mapping->build_id;
        mapping->object.build_id_bytes = note_header.n_descsz;
        return;
      }
      note = text + ((uint64_t{note_header.n_descsz} + 3) & ~uint64_t{3});
    }
  }
}

}  // namespace pctally
