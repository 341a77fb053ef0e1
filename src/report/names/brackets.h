// Finds the brackets of a demangled name. "operator<", "operator()" and "->" are none.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace pctally {

inline constexpr size_t kNoPlace = std::string_view::npos;  ///< no such place

/// Part of an identifier.
bool is_word(char c);

/// Whether the word "operator" stands at `at`.
bool starts_operator(std::string_view text, size_t at);

/// Length of "operator<<", "operator()", "operator new[]" at `at`; of a conversion the word
/// alone. REQUIRES: starts_operator().
size_t operator_length(std::string_view text, size_t at);

/// The bracket that closes the one at `open`; kNoPlace if there is none.
size_t closing(std::string_view text, size_t open);

/// Where `word` stands outside all brackets; kNoPlace if it does not. REQUIRES: it is not empty.
size_t find_outside(std::string_view text, std::string_view word);

/// "int, std::pair<int, char>": two.
std::vector<std::string_view> split_arguments(std::string_view text);

}  // namespace pctally
