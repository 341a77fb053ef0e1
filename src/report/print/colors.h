// Escape sequences for colours: put one before a text, and kPlain behind it.
#pragma once

namespace pctally {

inline constexpr const char* kPlain = "\033[0m";
inline constexpr const char* kBold = "\033[1m";
inline constexpr const char* kDim = "\033[2m";
inline constexpr const char* kRed = "\033[31m";
inline constexpr const char* kBoldRed = "\033[1;31m";
inline constexpr const char* kGreen = "\033[32m";
inline constexpr const char* kYellow = "\033[33m";
inline constexpr const char* kCyan = "\033[36m";

}  // namespace pctally
