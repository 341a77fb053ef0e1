// Which of a profile's files is the program that was started, as far as names say it.
#pragma once
#include <cstdint>
#include <optional>

#include "profile/profile.h"

namespace pctally {

/// An index into Profile::executables: of the program that is called like the command. A command is often a
/// link with another name than its file. That has something before a dash, or behind the name (g++:
/// x86_64-linux-gnu-g++-12, python: python3.11), or it ends in the name (awk: mawk). If no file is called
/// like the command, as that of cc, it is the program with most ticks. Programs are the files that scopes
/// name, or else those that are not called like a library. Nothing where there is none.
std::optional<uint32_t> program_file(const Profile& profile);

}  // namespace pctally
