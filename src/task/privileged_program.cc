#include "task/privileged_program.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include <algorithm>

#include "base/file/stat_at_once.h"

namespace pctally {
namespace {

constexpr size_t kMostCommBytes = 15;  ///< longer names are cut

enum class Answer { kNo, kYes, kUnknown };

/// A program that was just executed is in the kernel's memory.
Answer is_privileged(const std::string& path) {
  struct statx status;
  const UniqueFd fd = find_in_cache(path);
  if (!fd.valid() && (errno == EINVAL || errno == ENOSYS || errno == EPERM)) return Answer::kUnknown;
  if (!fd.valid() || !stat_at_once(fd.get(), "", &status) || !S_ISREG(status.stx_mode)) return Answer::kNo;
  const std::string file = "/proc/self/fd/" + std::to_string(fd.get());
  const bool privileged = (status.stx_mode & (S_ISUID | S_ISGID)) != 0 || access(file.c_str(), R_OK) != 0 ||
                          getxattr(file.c_str(), "security.capability", nullptr, 0) > 0;
  return privileged ? Answer::kYes : Answer::kNo;
}

}  // namespace

bool may_be_privileged(const std::string& comm) {
  if (comm.size() >= kMostCommBytes || comm.find('/') != std::string::npos) return true;
  const char* path = getenv("PATH");
  const std::string places = (path == nullptr ? "" : std::string(path)) + ":/usr/bin:/bin:/usr/sbin:/sbin";
  for (size_t at = 0, end = 0; at <= places.size(); at = end + 1) {
    end = std::min(places.find(':', at), places.size());
    const std::string directory = places.substr(at, end - at);
    if (!directory.starts_with('/')) continue;
    if (is_privileged(directory + "/" + comm) != Answer::kNo) return true;
  }
  return false;
}

}  // namespace pctally
