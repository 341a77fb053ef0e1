// Names in Markdown, as GitHub and GitLab show it: nothing in a name becomes markup, and nothing is lost.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// A sentence: a backslash before what could be markup (`std::vector<int>` would lose its `<int>`).
std::string markdown_text(std::string_view text);

/// A name as code; empty for an empty name.
std::string markdown_code(std::string_view name);

/// markdown_code() for a cell of a table, which a bar would end.
std::string markdown_cell(std::string_view name);

}  // namespace pctally
