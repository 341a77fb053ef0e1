#include "base/file/process_root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pctally {
namespace {

constexpr char kProc[] = "/proc/", kRoot[] = "/root/";

/// Copies "/proc/N/root" of "/proc/N/root/rest". Where the rest begins; null if it is no such path.
const char* split_root(const char* path, char (&root)[32]) noexcept {
  if (strncmp(path, kProc, strlen(kProc)) != 0) return nullptr;
  const char* end = path + strlen(kProc);
  const size_t digits = strspn(end, "0123456789");
  end += digits;
  if (digits == 0 || digits > 10 || strncmp(end, kRoot, strlen(kRoot)) != 0) return nullptr;
  const auto length = static_cast<size_t>(end - path) + strlen(kRoot) - 1;
  memcpy(root, path, length);
  root[length] = '\0';
  return end + strlen(kRoot);
}

}  // namespace

UniqueFd find_place(const char* path, int flags) noexcept {
  char root[32];
  const char* rest = split_root(path, root);
  flags |= O_PATH | O_CLOEXEC;
  if (rest == nullptr) return UniqueFd(open(path, flags));
  UniqueFd top(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top.valid()) return top;
  open_how how{};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, top.get(), rest, &how, sizeof how)));
}

UniqueFd open_place(int place) noexcept {
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", place);
  return UniqueFd(open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

Result<UniqueFd> open_regular_file(const char* path, struct stat* status, int flags) noexcept {
  const UniqueFd place = find_place(path, flags);
  if (!place.valid() || fstat(place.get(), status) != 0)
    return fail(errno, "cannot open %s: %s", path, strerror(errno));
  if (!S_ISREG(status->st_mode)) return fail(ENOTSUP, "%s is not a regular file", path);
  UniqueFd fd = open_place(place.get());
  if (!fd.valid()) return fail(errno, "cannot open %s: %s", path, strerror(errno));
  return fd;
}

}  // namespace pctally
