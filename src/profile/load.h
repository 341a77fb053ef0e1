// From a profile file to a Profile: sums, sorts and merges what the reader found.
//
// Refuses to leave a tick without a place: what the file's own account knows and its cells no longer
// hold is lost.
#pragma once
#include <span>

#include "base/result.h"
#include "histread/live_file.h"
#include "profile/profile.h"

namespace pctally {

/// Loads a file, live or closed, sound or not; errors name the path. Works on a copy of its bytes, so that a
/// recorder cutting the file at its end cannot fault the reader.
Result<Profile> load_profile(const char* path);

/// The same from a copy of a file that is kept open.
Profile load_profile(FileCopy copy);

/// The same from bytes. recorder_alive stays false.
Result<Profile> load_profile(std::span<const unsigned char> bytes);

}  // namespace pctally
