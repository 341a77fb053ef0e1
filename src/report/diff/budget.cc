#include "report/diff/budget.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file/process_root.h"
#include "base/file/read_all.h"

namespace pctally {
namespace {

Result<std::string> read_text(const std::string& path) {
  struct stat status;
  const auto fd = open_regular_file(path.c_str(), &status);
  if (!fd) return std::unexpected(fd.error());
  std::string text;
  if (read_to_end(fd->get(), kMostBudgetBytes, &text)) return text;
  if (errno == EFBIG) return fail(EFBIG, "%s is larger than 1 MiB: no file of limits", path.c_str());
  return fail(errno, "cannot read %s: %s", path.c_str(), strerror(errno));
}

}  // namespace

Result<std::vector<Limit>> read_budget(const std::string& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return std::unexpected(text.error());
  Result<std::vector<Limit>> limits = parse_limits(*text);
  if (!limits) return fail(EINVAL, "%s: %s", path.c_str(), limits.error().text);
  if (limits->empty())
    return fail(EINVAL, "%s has no limits; write one a line, for example: total > +3%%", path.c_str());
  return limits;
}

}  // namespace pctally
