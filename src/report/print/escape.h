// The one way for a name to reach a person: symbol, path, command, comm, error text. Whoever made the
// profiled program chose those bytes, so none of them may steer a terminal or hide among its neighbours.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace pctally {

inline constexpr size_t kLongestShown = 1024;

/// For people: control bytes and bytes that are not UTF-8 as \xNN, C1 controls and bidirectional or
/// invisible format characters as \u{...}; what is longer than kLongestShown ends in "…". Valid
/// UTF-8, whole characters.
std::string escaped(std::string_view name);

/// The same of any length, for files that programs read: of names that are cut, several may become one.
std::string escaped_whole(std::string_view name);

/// For JSON: the name as it is, except that bytes that are not UTF-8 become \xNN.
std::string valid_utf8(std::string_view name);

/// For HTML, SVG and XML, as text or as an attribute in double quotes: entities for what is markup there.
/// REQUIRES: made by escaped().
std::string marked_up(std::string_view text);

/// Columns on a terminal of a string made by escaped(): most of East Asia's characters take two.
size_t width_of(std::string_view text);

/// From now on what is cut ends in "..." instead of "…", in the whole program: the locale is not UTF-8.
void elide_in_ascii(bool wanted);

/// At most `width` characters, the last one "…" if any were cut. REQUIRES: made by escaped(), width > 0.
std::string elided(std::string_view text, size_t width);

/// Cuts a name in the middle: the last component ("::operator[]") stays as long as it has room.
/// REQUIRES: as elided().
std::string elided_name(std::string_view text, size_t width);

}  // namespace pctally
