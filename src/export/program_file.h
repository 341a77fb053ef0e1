// Which of a profile's files is the program that was started.
#pragma once
#include <cstdint>
#include <optional>

#include "profile/profile.h"

namespace pctally {

/// An index into Profile::executables. A command is often a link with another name than its file: then it is
/// the program whose name has the command's in it (g++ is x86_64-linux-gnu-g++-12), or else the one with most
/// ticks. Programs are the files that scopes name, or else those that are not called like a library. Nothing
/// where there is none.
std::optional<uint32_t> program_file(const Profile& profile);

}  // namespace pctally
