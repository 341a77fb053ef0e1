#include "tool/archive/directories.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base_name.h"
#include "report/names/own_files.h"
#include "report/print/directories.h"

namespace pctally {
namespace {

bool is_everywhere(const std::string& path) {
  if (!path.starts_with('/')) return false;
  const std::string normal = normal_path(path);
  constexpr std::string_view kPlaces[] = {"/usr/", "/lib/", "/lib32/", "/lib64/", "/rustc/"};
  return !normal.starts_with("/usr/local/") &&
         std::ranges::any_of(kPlaces, [&](std::string_view place) { return normal.starts_with(place); });
}

/// "py::f:src/m.py" as "py::f:m.py".
std::string python_name_without_directories(const std::string& name) {
  const size_t file = name.rfind(':') + 1;
  return name.substr(0, file) + std::string(base_name(name.substr(file)));
}

}  // namespace

std::string without_directories(const std::string& path) {
  const bool is_file = !path.starts_with("//") && !path.starts_with('[');
  return is_file && !is_everywhere(path) ? std::string(base_name(path)) : path;
}

std::string jit_name_without_directories(std::string name) {
  const size_t first = first_path(name, 0);
  if (first != std::string::npos) name.erase(first, name.rfind('/') + 1 - first);
  return name.starts_with("py::") ? python_name_without_directories(name) : name;
}

const std::string& DistinctFiles::name(const std::string& path) {
  const auto [entry, fresh] = names_.try_emplace(path);
  if (!fresh) return entry->second;
  if (is_everywhere(path)) return entry->second = path;
  const std::string bare = without_directories(path);
  const std::string_view place = system_place(normal_path(path));
  const size_t number = ++used_[bare];
  entry->second =
      number == 1 ? fmt::format("{}{}", place, bare) : fmt::format("{}{}/{}", place, number, bare);
  return entry->second;
}

}  // namespace pctally
