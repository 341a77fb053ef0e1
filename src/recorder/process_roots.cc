#include "recorder/process_roots.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace pctally {
namespace {

/// What makes two processes see the same files.
struct View {
  ino_t mounts = 0;
  dev_t root_device = 0;
  ino_t root = 0;
  bool operator==(const View&) const = default;
};

std::string directory_of(pid_t pid) { return "/proc/" + (pid == 0 ? "self" : std::to_string(pid)); }

std::optional<View> view_of(pid_t pid) {
  struct stat mounts, root;
  if (stat((directory_of(pid) + "/ns/mnt").c_str(), &mounts) != 0) return {};
  if (stat((directory_of(pid) + "/root").c_str(), &root) != 0) return {};
  return View{mounts.st_ino, root.st_dev, root.st_ino};
}

pid_t parent_of(pid_t pid) {
  std::ifstream file(directory_of(pid) + "/stat");
  std::string stat((std::istreambuf_iterator<char>(file)), {});
  size_t name_end = stat.rfind(')');  // then: state, parent
  return name_end == std::string::npos || name_end + 4 > stat.size() ? 0 : atoi(stat.c_str() + name_end + 4);
}

std::string link_of(const std::string& path) {
  char text[4096];
  ssize_t bytes = readlink(path.c_str(), text, sizeof text);
  return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
}

/// /proc/PID/maps names files by their mount namespace, not by the process's root in it.
std::string without_prefix(const std::string& path, const std::string& prefix) {
  bool starts = prefix.size() > 1 && path.rfind(prefix + "/", 0) == 0;
  return starts ? path.substr(prefix.size()) : path;
}

}  // namespace

std::optional<std::string> ProcessRoots::root_of(pid_t pid) {
  auto own = view_of(0), view = view_of(pid);
  if (!own || !view) return {};
  if (*view == *own) return "";
  for (pid_t parent = parent_of(pid); parent > 1 && view_of(parent) == view; parent = parent_of(pid))
    pid = parent;
  return directory_of(pid) + "/root";
}

std::string ProcessRoots::find(const std::string& root, std::string_view path) {
  if (root.empty() || path.empty() || path[0] != '/') return std::string(path);
  std::string plain(path), under = root + without_prefix(plain, link_of(root));
  if (auto known = found_.find(root + plain); known != found_.end()) return known->second;
  struct stat inside, outside;
  bool exists = stat(under.c_str(), &inside) == 0;
  bool same = exists && stat(plain.c_str(), &outside) == 0 && inside.st_dev == outside.st_dev &&
              inside.st_ino == outside.st_ino;
  return found_[root + plain] = same || !exists ? plain : under;
}

}  // namespace pctally
