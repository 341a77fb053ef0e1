// A number the kernel shows in a file of /proc/sys.
#pragma once

namespace pctally {

inline constexpr int kUnreadableSetting = -100;

/// The number at the start of the file; kUnreadableSetting if there is none.
int kernel_setting(const char* path);

}  // namespace pctally
