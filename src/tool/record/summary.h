// The line that follows a recording: how much was sampled, what is missing, where it is.
#pragma once
#include <string>

namespace pctally {

/// Says it of the finished profile at `path`. `named`: the user gave that name.
void say_summary(const std::string& path, bool named);

}  // namespace pctally
