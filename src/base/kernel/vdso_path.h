// The paths that a profile has for the kernel's vdso, which is no file.
#pragma once
#include <cstdint>
#include <string_view>

namespace pctally {

inline constexpr std::string_view kVdsoPath = "[vdso]";
inline constexpr std::string_view kVdso32Path = "[vdso32]";

/// The vdso of 32-bit programs is another object than that of 64-bit ones, but the kernel calls both
/// "[vdso]". `end` of its mapping: the memory of 32-bit programs ends at 4 GiB, and no 64-bit vdso lies
/// below.
constexpr std::string_view vdso_path(uint64_t end) noexcept {
  return end <= uint64_t{1} << 32 ? kVdso32Path : kVdsoPath;
}

}  // namespace pctally
