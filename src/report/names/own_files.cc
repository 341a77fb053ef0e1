#include "report/names/own_files.h"

#include <filesystem>

namespace pctally {

std::string normal_path(std::string_view path) {
  const bool is_normal = !path.starts_with('.') && path.find("/.") == std::string_view::npos &&
                         path.find("//") == std::string_view::npos;  // most are: one is asked for per tick
  if (is_normal) return std::string(path);
  return std::filesystem::path(path).lexically_normal().string();
}

std::string_view system_place(std::string_view path) {
  for (std::string_view place :
       {"/usr/local/", "/usr/", "/lib", "/opt/rh/", "/build/", "/builddir/", "/rustc/", "/rust/deps/"})
    if (path.starts_with(place) && !path.starts_with("/usr/local/src/")) return place;
  for (std::string_view part : {"/.cargo/registry/", "/.rustup/", "/node_modules/", "/go/pkg/mod/"})
    if (path.find(part) != std::string_view::npos) return part;
  return {};
}

OwnFiles::OwnFiles(const std::string& directory) {
  if (directory.empty()) return;
  std::error_code error;
  directory_ = normal_path(std::filesystem::absolute(directory, error).string());
  if (!directory_.ends_with('/')) directory_ += '/';
}

bool OwnFiles::contains(std::string_view path, std::string_view object) const {
  if (path.empty()) return false;
  // Distributions compile libc with relative paths.
  const bool relative = !path.starts_with('/');
  if (relative && (object.starts_with('[') || !system_place(normal_path(object)).empty())) return false;
  if (directory_.empty()) return relative || system_place(normal_path(path)).empty();
  std::error_code error;
  return normal_path(std::filesystem::absolute(path, error).string()).starts_with(directory_);
}

}  // namespace pctally
