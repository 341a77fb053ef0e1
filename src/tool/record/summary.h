// The line that follows a recording: how much was sampled, what is missing, where it is.
#pragma once
#include "profile/profile.h"
#include "recorder/recording.h"

namespace pctally {

/// Says it of the finished profile in `file`. `named`: the user gave that name.
void say_summary(const Profile& profile, const RecordedFile& file, bool named);

}  // namespace pctally
