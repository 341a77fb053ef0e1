// Names the files that top and snapshot write.
#pragma once
#include <string>

namespace pctally {

/// A name for a snapshot of `file` that is free in the current directory: its base name with a number.
std::string snapshot_name(const std::string& file);

}  // namespace pctally
