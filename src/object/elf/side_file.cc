#include "object/elf/side_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

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
  // The size is a hint: files of /proc have none.
  std::string text;
  size_t length = 0;
  for (;;) {
    if (length == text.size()) {
      text.resize(
          std::max({text.size() * 2, static_cast<size_t>(std::clamp<off_t>(status.st_size, 0, 1 << 26)) + 1,
                    size_t{1} << 16}));
    }
    const ssize_t count = read(fd.get(), text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno, "cannot read %s: %s", path.c_str(), strerror(errno));
    if (count == 0) break;
    length += static_cast<size_t>(count);
    if (length > limit) return fail(EFBIG, "%s is larger than %zu MB", path.c_str(), limit >> 20);
  }
  text.resize(length);
  return text;
}

}  // namespace pctally
