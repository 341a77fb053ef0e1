// Text for people where the locale is not UTF-8 (LANG=C).
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// Whether the first of LC_ALL, LC_CTYPE and LANG that is set names UTF-8. Whether that locale is installed
/// does not matter: the terminal is what it is.
bool locale_is_utf8();

/// Our own signs as ASCII: "±" is "+-", "…" is "...", "▲" "▼" are "^" "v", lines of trees "|-". Columns keep
/// their places, and names their characters.
std::string in_ascii(std::string_view text);

}  // namespace pctally
