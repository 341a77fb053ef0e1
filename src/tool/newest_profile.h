// The profile that a subcommand reads when none is named.
#pragma once
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"

namespace pctally {

/// The newest *.pct file of the current directory; of two equally new ones the first by name. Empty if
/// there is none.
std::string newest_profile();

/// Loads `*file`; an empty one becomes the newest here, and a line says which.
Result<Profile> load_named_or_newest(std::string* file);

/// The same of several: their sum.
Result<Profile> load_named_or_newest(std::vector<std::string>* files);

}  // namespace pctally
