#include <string_view>

#include "base/base_name.h"
#include "base/kernel/vdso_path.h"
#include "object/symbolizer.h"

namespace pctally {
namespace {

std::string name_of_file(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  const std::string_view name = base_name(path);
  return std::string(name.empty() ? "unknown" : name);
}

}  // namespace

bool is_unknown_object(const ExecutableIdentity& identity) {
  return identity.kind == ExecutableIdentity::Kind::kFile && identity.path.starts_with('[') &&
         identity.path.ends_with(']');
}

std::string object_name_of(const ExecutableIdentity& identity) {
  switch (identity.kind) {
    case ExecutableIdentity::Kind::kVdso:
      return std::string(identity.path == kVdso32Path ? kVdso32Path : kVdsoPath);
    case ExecutableIdentity::Kind::kKernel:
      return "[kernel]";
    case ExecutableIdentity::Kind::kPrivate:
      return "[jit]";
    case ExecutableIdentity::Kind::kStart:
      return "[process start]";
    case ExecutableIdentity::Kind::kFile:
      break;
  }
  return is_unknown_object(identity) ? identity.path : name_of_file(identity.path);
}

}  // namespace pctally
