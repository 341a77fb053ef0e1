// The line that follows a recording: how much was sampled, what is missing, where it is.
#pragma once
#include <string>

#include "profile/profile.h"

namespace pctally {

/// Says it of the finished profile in `path`. `named`: the user gave that name.
void say_summary(const Profile& profile, const std::string& path, bool named);

}  // namespace pctally
