// The profiles named on a command line.
#pragma once
#include <string>
#include <vector>

#include "profile/profile.h"

namespace pctally {

/// Appends a profile for each file, in order. False if one cannot be read; a line says which and why.
bool load_profiles(const std::vector<std::string>& files, std::vector<Profile>* profiles);

}  // namespace pctally
