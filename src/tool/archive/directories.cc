#include "tool/archive/directories.h"

#include <fmt/format.h>

#include "base/base_name.h"
#include "report/print/directories.h"

namespace pctally {
namespace {

/// "py::f:src/m.py" as "py::f:m.py".
std::string python_name_without_directories(const std::string& name) {
  const size_t file = name.rfind(':') + 1;
  return name.substr(0, file) + std::string(base_name(name.substr(file)));
}

}  // namespace

std::string without_directories(const std::string& path) {
  const bool is_file = !path.starts_with("//") && !path.starts_with('[');
  return is_file ? std::string(base_name(path)) : path;
}

std::string jit_name_without_directories(std::string name) {
  const size_t first = first_path(name, 0);
  if (first != std::string::npos) name.erase(first, name.rfind('/') + 1 - first);
  return name.starts_with("py::") ? python_name_without_directories(name) : name;
}

const std::string& DistinctFiles::name(const std::string& path) {
  const auto [entry, fresh] = names_.try_emplace(path);
  if (!fresh) return entry->second;
  const std::string bare = without_directories(path);
  const size_t number = ++used_[bare];
  entry->second = number == 1 ? bare : fmt::format("{}/{}", number, bare);
  return entry->second;
}

}  // namespace pctally
