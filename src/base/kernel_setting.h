// A number the kernel shows in a file of /proc/sys.
#pragma once

namespace pctally {

/// The number at the start of the file; `otherwise` if there is none.
long kernel_setting(const char* path, long otherwise) noexcept;

}  // namespace pctally
