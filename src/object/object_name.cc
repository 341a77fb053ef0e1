#include <string_view>

#include "object/symbolizer.h"

namespace pctally {
namespace {

std::string base_name(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  const size_t slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
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
      return "[vdso]";
    case ExecutableIdentity::Kind::kKernel:
      return "[kernel]";
    case ExecutableIdentity::Kind::kPrivate:
      return "[jit]";
    case ExecutableIdentity::Kind::kStart:
      return "[process start]";
    case ExecutableIdentity::Kind::kFile:
      break;
  }
  return is_unknown_object(identity) ? identity.path : base_name(identity.path);
}

}  // namespace pctally
