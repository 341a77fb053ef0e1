// What top and snapshot have in common: the names in a copy, and that of its file.
#pragma once
#include <string>

#include "histread/live_file.h"

namespace pctally {

/// Puts the names of `source` behind a closed copy of it (close_copy()). An Error if they cannot be read: the
/// copy has none then.
Result<void> copy_names(const LiveFile& source, FileCopy* copy);

/// A name for a snapshot of `file` that is free in the current directory: its base name with a number.
std::string snapshot_name(const std::string& file);

}  // namespace pctally
