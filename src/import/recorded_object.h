// What pctally's own profiles call an object that another tool's profile names.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace pctally {

inline constexpr char kKernelObject[] = "[kernel]";

/// kKernelObject for the kernel's symbols and image, "[jit]" for code that a runtime has made: other tools
/// have names for these that differ from run to run. Else `object`.
std::string recorded_object(std::string_view object);

/// The same of code at `address`: in the upper half of the address space it is the kernel's, which may be a
/// module ("[ext4]").
std::string recorded_object(std::string_view object, uint64_t address);

}  // namespace pctally
