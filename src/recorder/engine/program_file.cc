#include "recorder/engine/program_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/base_name.h"
#include "base/unique_fd.h"

namespace pctally {
namespace {

constexpr int kDeepestScript = 4;

std::string first_bytes(int fd) {
  std::string bytes(4096, '\0');
  ssize_t read_bytes = pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(read_bytes > 0 ? static_cast<size_t>(read_bytes) : 0);
  return bytes;
}

std::string next_word(const std::string& line, size_t* at) {
  size_t start = line.find_first_not_of(" \t", *at);
  if (start == std::string::npos) return {};
  *at = line.find_first_of(" \t", start);
  if (*at == std::string::npos) *at = line.size();
  return line.substr(start, *at - start);
}

/// The first word of a "#!" line.
std::string named_interpreter(const std::string& head) {
  size_t at = 0;
  return next_word(head.substr(2, head.find('\n') - 2), &at);
}

/// The program that will really run for a "#!" line; /usr/bin/env is looked through.
std::string interpreter_of(const std::string& head) {
  std::string line = head.substr(2, head.find('\n') - 2);
  size_t at = 0;
  std::string program = next_word(line, &at);
  if (program.size() < 4 || program.compare(program.size() - 4, 4, "/env") != 0) return program;
  std::string named = next_word(line, &at);
  if (named == "-S") named = next_word(line, &at);
  return named.empty() || named[0] == '-' ? program : find_program(named);
}

bool gains_privilege(int fd, const struct stat& status) {
  if ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) return true;
  if ((status.st_mode & S_ISGID) != 0 && status.st_gid != getegid()) return true;
  return geteuid() != 0 && fgetxattr(fd, "security.capability", nullptr, 0) > 0;
}

constexpr unsigned char kOurClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

bool is_elf(const std::string& head) {
  return head.size() >= sizeof(ElfW(Ehdr)) && memcmp(head.data(), ELFMAG, SELFMAG) == 0;
}

/// The first segment of that type, if its header is there. REQUIRES: an ELF file of our word size.
std::optional<ElfW(Phdr)> segment_of(const std::string& head, unsigned type) {
  ElfW(Ehdr) header;
  memcpy(&header, head.data(), sizeof header);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    uint64_t at = header.e_phoff + uint64_t{i} * sizeof segment;
    if (at > head.size() || head.size() - at < sizeof segment) break;
    memcpy(&segment, head.data() + at, sizeof segment);
    if (segment.p_type == type) return segment;
  }
  return std::nullopt;
}

/// The path of PT_INTERP; nothing of a program that is linked statically; empty if it lies behind the head.
/// REQUIRES: an ELF file of our word size.
std::optional<std::string> loader_of(const std::string& head) {
  const auto segment = segment_of(head, PT_INTERP);
  if (!segment) return std::nullopt;
  if (segment->p_offset >= head.size()) return "";
  return head.substr(segment->p_offset, segment->p_filesz).c_str();  // up to its zero byte
}

/// True if it is known to need no library. REQUIRES: as above.
bool needs_no_library(int fd, const std::string& head) {
  constexpr size_t kMostEntries = 256;
  const auto dynamic = segment_of(head, PT_DYNAMIC);
  if (!dynamic) return false;
  std::vector<ElfW(Dyn)> entries(std::min<size_t>(dynamic->p_filesz / sizeof(ElfW(Dyn)), kMostEntries));
  const size_t bytes = entries.size() * sizeof entries[0];
  if (pread(fd, entries.data(), bytes, static_cast<off_t>(dynamic->p_offset)) != static_cast<ssize_t>(bytes))
    return false;
  const auto end = std::ranges::find(entries, DT_NULL, &ElfW(Dyn)::d_tag);
  return end != entries.end() && std::find_if(entries.begin(), end, [](const auto& entry) {
                                   return entry.d_tag == DT_NEEDED;
                                 }) == end;
}

ProcessNote elf_obstacle(int fd, const std::string& head) {
  if (!is_elf(head)) return ProcessNote::kNone;
  if (static_cast<unsigned char>(head[EI_CLASS]) != kOurClass) return ProcessNote::kWordSize;
  const std::optional<std::string> loader = loader_of(head);
  if (!loader) return ProcessNote::kStatic;
  if (loader->find("ld-musl") != std::string::npos) return ProcessNote::kForeignLibc;
  return needs_no_library(fd, head) ? ProcessNote::kWithoutLibc : ProcessNote::kNone;
}

/// What the kernel opens to run the program that begins so; empty: nothing, or that is not known.
std::string needed_by(const std::string& head) {
  if (head.starts_with("#!")) return named_interpreter(head);
  if (!is_elf(head) || static_cast<unsigned char>(head[EI_CLASS]) != kOurClass) return {};
  return loader_of(head).value_or("");
}

ProcessNote obstacle(const std::string& path, int depth) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!fd.valid() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return ProcessNote::kNone;
  std::string head = first_bytes(fd.get());
  if (head.rfind("#!", 0) == 0)
    return depth < kDeepestScript ? obstacle(interpreter_of(head), depth + 1) : ProcessNote::kNone;
  if (gains_privilege(fd.get(), status)) return ProcessNote::kPrivileged;
  const ProcessNote note = elf_obstacle(fd.get(), head);
  return note == ProcessNote::kStatic && is_dynamic_linker(path) ? ProcessNote::kNone : note;
}

bool runnable(const std::string& path, int* error) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return false;
  if (S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0) return true;
  *error = EACCES;
  return false;
}

}  // namespace

bool is_dynamic_linker(const std::string& program) {
  const std::string_view name = base_name(program);
  return name.starts_with("ld-") || name.starts_with("ld.so") || name.starts_with("ld64.so");
}

ProcessNote injection_obstacle(const std::string& path) { return obstacle(path, 0); }

std::string missing_interpreter(const std::string& path) {
  std::string program = path;
  for (int depth = 0; depth <= kDeepestScript; ++depth) {
    const UniqueFd fd(open(program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    program = fd.valid() ? needed_by(first_bytes(fd.get())) : "";
    if (program.empty()) break;
    if (access(program.c_str(), F_OK) != 0 && errno == ENOENT) return program;
  }
  return {};
}

std::string find_program(const std::string& command, std::string* refused) {
  int error = ENOENT;
  if (command.find('/') != std::string::npos) {
    errno = 0;
    if (runnable(command, &error)) return command;
    if (refused != nullptr && error == EACCES) *refused = command;
    if (errno != EACCES) errno = error;  // EACCES: a directory on the way may not be searched
    return {};
  }
  const char* path = getenv("PATH");
  std::string list = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= list.size() && !command.empty();) {
    size_t end = list.find(':', at);
    if (end == std::string::npos) end = list.size();
    std::string directory = end == at ? "." : list.substr(at, end - at);
    const bool was_refused = error == EACCES;
    const std::string full = directory + "/" + command;
    if (runnable(full, &error)) return full;
    if (refused != nullptr && !was_refused && error == EACCES) *refused = full;
    at = end + 1;
  }
  errno = error;
  return {};
}

}  // namespace pctally
