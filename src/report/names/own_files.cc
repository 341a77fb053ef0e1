#include "report/names/own_files.h"

#include <filesystem>

namespace pctally {
namespace {

std::string normal(std::string_view path) { return std::filesystem::path(path).lexically_normal().string(); }

bool is_of_a_system(std::string_view path) {
  if (!path.starts_with('/')) return true;  // how distributions compile libc
  for (std::string_view place : {"/usr/", "/lib", "/opt/rh/", "/build/", "/builddir/", "/rustc/"})
    if (path.starts_with(place) && !path.starts_with("/usr/local/src/")) return true;
  for (std::string_view part : {"/.cargo/registry/", "/.rustup/", "/node_modules/", "/go/pkg/mod/"})
    if (path.find(part) != std::string_view::npos) return true;
  return false;
}

}  // namespace

OwnFiles::OwnFiles(const std::string& directory) {
  if (directory.empty()) return;
  std::error_code error;
  directory_ = normal(std::filesystem::absolute(directory, error).string());
  if (!directory_.ends_with('/')) directory_ += '/';
}

bool OwnFiles::contains(std::string_view path) const {
  if (path.empty()) return false;
  const std::string file = normal(path);
  return directory_.empty() ? !is_of_a_system(file) : file.starts_with(directory_);
}

}  // namespace pctally
