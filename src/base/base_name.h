// The part of a path that names the file.
#pragma once
#include <string_view>

namespace pctally {

/// What stands behind the last '/', all of it where there is none; a part of `path`. Calls nothing: any
/// thread, any handler.
constexpr std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace pctally
