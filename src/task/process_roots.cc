#include "task/process_roots.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/process_root.h"
#include "base/kernel/proc_file.h"
#include "perf/process_tree.h"
#include "process/proc_maps.h"

namespace pctally {
namespace {

pid_t parent_of(pid_t pid) {
  ProcStat stat;
  return read_proc_stat(pid, &stat) ? stat.parent : 0;
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

bool is_path(std::string_view path) {
  return path.size() > 1 && path[0] == '/' && !is_anonymous(path) && path.substr(0, 7) != "/memfd:";
}

/// By our own right; "" if it is not known.
std::string build_id_of_file(const std::string& path) {
  struct stat status;
  const auto fd = open_regular_file(path.c_str(), &status);
  uint8_t id[kBuildIdBytes];
  const uint32_t length = fd ? read_build_id(fd->get(), id) : 0;
  return {reinterpret_cast<const char*>(id), length};
}

std::string identity_text(const ObjectIdentity& object) {
  if (object.build_id_bytes != 0)
    return {reinterpret_cast<const char*>(object.build_id), object.build_id_bytes};
  return std::to_string(object.device) + ":" + std::to_string(object.inode);
}

}  // namespace

Result<FileView> ProcessRoots::view_of(pid_t pid) const {
  return files_ != nullptr ? files_->view_of(pid) : read_view(pid);
}

Result<FileFacts> ProcessRoots::facts_of(const std::string& path) const {
  return files_ != nullptr ? files_->facts_of(path) : read_facts(path);
}

/// File systems made of others show one device in /proc/PID/maps and another to stat(2); the inode
/// is the same.
bool ProcessRoots::is_mapped_file(const std::string& place, const ObjectIdentity& mapped) const {
  if (mapped.build_id_bytes == 0) {
    const auto facts = facts_of(place);
    return facts && facts->inode == mapped.inode;
  }
  return (files_ != nullptr ? files_->build_id_of(place) : build_id_of_file(place)) == identity_text(mapped);
}

ProcessRoots::Root ProcessRoots::root_of(pid_t pid) {
  const auto own = read_view(0), view = view_of(pid);
  if (!view) return {.hidden = view.error().code == EACCES || view.error().code == EPERM};
  if (own && *view == *own) return {.known = true};
  for (pid_t parent = parent_of(pid); parent > 1; parent = parent_of(pid)) {
    const auto above = view_of(parent);
    if (!above || *above != *view) break;
    pid = parent;
  }
  return {.known = true, .path = directory_of(pid) + "/root"};
}

/// Roots of containers come without end.
const std::string& ProcessRoots::remember(Places* places, std::string key, std::string place) {
  if (places->size() >= kMostKnown) places->clear();
  return (*places)[std::move(key)] = std::move(place);
}

std::string ProcessRoots::find(const std::string& root, std::string_view path, const ObjectIdentity& mapped) {
  if (root.empty() || !is_path(path)) return std::string(path);
  std::string plain(path), under = root + without_prefix(plain, link_of(root));
  const std::string key = root + plain + '\n' + identity_text(mapped);
  if (auto known = found_.find(key); known != found_.end()) return known->second;
  const auto inside = facts_of(under), outside = facts_of(plain);
  const bool missing = !inside && (inside.error().code == ENOENT || inside.error().code == ENOTDIR);
  const bool same = inside && outside && inside->device == outside->device && inside->inode == outside->inode;
  const bool is_plain = same || (missing && outside && is_mapped_file(plain, mapped));
  return remember(&found_, key, is_plain ? plain : under);
}

std::string ProcessRoots::find_proved(const std::string& root, std::string_view path, pid_t pid,
                                      const ObjectIdentity& mapped) {
  std::string place = find(root, path, mapped);
  if (!is_path(path)) return place;
  std::string key = place + '\n' + identity_text(mapped);
  if (auto known = hidden_.find(key); known != hidden_.end()) return known->second;
  if (!is_mapped_file(place, mapped)) place = directory_of(pid) + "/root" + std::string(path);
  return remember(&hidden_, key, place);
}

}  // namespace pctally
