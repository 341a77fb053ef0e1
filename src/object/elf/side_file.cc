#include "object/elf/side_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file/read_all.h"
#include "base/time_ns.h"

namespace pctally {

Result<std::string> read_side_file(const std::string& path, size_t limit, Trust trust,
                                   uint64_t* changed_unix_ns) {
  struct stat status;
  auto opened = open_regular(path, &status, LastLink::kRefuse);
  if (!opened) return std::unexpected(opened.error());
  const UniqueFd fd = std::move(*opened);
  if (trust == Trust::kRootOrOurselves && status.st_uid != 0 && status.st_uid != geteuid()) {
    return fail(EPERM, "%s belongs to another user (chown it, or run as that user)", path.c_str());
  }
  if (changed_unix_ns != nullptr) {
    *changed_unix_ns = to_ns(status.st_mtim);
  }
  std::string text;
  if (read_to_end(fd.get(), limit, &text)) return text;
  if (errno == EFBIG) return fail(EFBIG, "%s is larger than %zu MB", path.c_str(), limit >> 20);
  return fail(errno, "cannot read %s: %s", path.c_str(), strerror(errno));
}

}  // namespace pctally
