#include "tool/record/held_names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object/elf/regular_file.h"

namespace pctally {
namespace {

int g_kernel_symbols = -1;

/// The descriptor that is held for such a path; -1: none.
int held_for(const std::string& path) {
  if (path == "/proc/kallsyms") return g_kernel_symbols;
  return path.starts_with(kHeldPlace) ? atoi(path.c_str() + kHeldPlace.size()) : -1;
}

Result<UniqueFd> open_place(const std::string& path, struct stat* status, LastLink last) {
  const int held = held_for(path);
  if (held < 0) return open_regular_here(path, status, last);
  const std::string link = "/proc/self/fd/" + std::to_string(held);
  const bool is_opened = (fcntl(held, F_GETFL) & O_PATH) == 0;
  UniqueFd fd(is_opened ? fcntl(held, F_DUPFD_CLOEXEC, 0) : open(link.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid() || fstat(fd.get(), status) != 0 || lseek(fd.get(), 0, SEEK_SET) != 0)
    return fail(errno, "cannot open %s: %s", path.c_str(), strerror(errno));
  return fd;
}

std::string place_of(int fd, const std::string& path) {
  std::string name = path.substr(path.rfind('/'));
  if (name.ends_with(kDeleted)) name.resize(name.size() - kDeleted.size());  // what is held is there
  return std::string(kHeldPlace) + std::to_string(fd) + name;
}

int find(const ProcessFiles& files, const ExecutableIdentity& identity) {
  if (identity.kind == ExecutableIdentity::Kind::kPrivate) return files.find_perf_map(identity.owner);
  if (identity.kind != ExecutableIdentity::Kind::kFile) return -1;
  return files.find({identity.path, identity.build_id, identity.device, identity.inode});
}

}  // namespace

std::unique_ptr<Symbolizer> open_held(const ProcessFiles& files, const ExecutableIdentity& identity) {
  set_file_opener(open_place);
  g_kernel_symbols = files.kernel_symbols();
  const int fd = find(files, identity);
  const bool is_file = identity.kind == ExecutableIdentity::Kind::kFile;
  if (fd < 0) return Symbolizer::open(identity);
  if (is_file)
    if (auto names = Symbolizer::open(identity); names->problem().empty()) return names;
  ExecutableIdentity held = identity;
  held.path = place_of(fd, is_file ? identity.path : "/jit.names");
  return Symbolizer::open(held);
}

}  // namespace pctally
