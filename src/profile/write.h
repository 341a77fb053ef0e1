// A merged profile as a profile file: closed, with its runs. docs/profile-file.md has the layout.
#pragma once
#include <vector>

#include "base/result.h"
#include "histfile/layout.h"
#include "profile/profile.h"

namespace pctally {

/// The bytes of the file. Equal profiles give equal bytes. Fails where there are more places, programs or
/// bytes (1 GiB) than a file may hold, and where they take more than `most_bytes`. REQUIRES: profile.runs
/// is not empty.
Result<std::vector<unsigned char>> merged_file(const Profile& profile,
                                               uint64_t most_bytes = kLargestMergedBytes);

}  // namespace pctally
