// Texts without the directories of the paths in them.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// Where the first absolute path in `text` begins at `from` or behind it; npos if there is none.
size_t first_path(std::string_view text, size_t from);

/// "cannot open /home/me/src/a.c" as "cannot open a.c".
std::string text_without_directories(std::string_view text);

}  // namespace pctally
