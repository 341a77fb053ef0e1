// Symbol names as their programmers wrote them. Names come from files that are not trusted: work and
// length are capped.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

inline constexpr size_t kLongestName = 8192;

/// A C++ (Itanium) or Rust (v0, or legacy without its hash) symbol in source form; any other name, and one
/// that cannot be demangled within the cap, as it is, cut at the cap.
std::string demangle(std::string_view symbol);

}  // namespace pctally
