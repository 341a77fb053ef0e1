#include "report/print/markdown.h"

#include <algorithm>

#include "report/print/escape.h"

namespace pctally {
namespace {

std::string with_backslashes(std::string_view text, std::string_view before) {
  std::string out;
  for (const char byte : text) {
    if (before.find(byte) != std::string_view::npos) out += '\\';
    out += byte;
  }
  return out;
}

}  // namespace

std::string markdown_text(std::string_view text) { return with_backslashes(escaped(text), "\\`*_~[]<>|&#"); }

std::string markdown_code(std::string_view name) {
  if (name.empty()) return {};
  const std::string code = escaped(name);
  size_t run = 0, longest = 0;
  for (const char byte : code) {
    run = byte == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');  // code ends where as many backticks follow as began it
  const char* pad = longest == 0 ? "" : " ";
  return fence + pad + code + pad + fence;
}

std::string markdown_cell(std::string_view name) { return with_backslashes(markdown_code(name), "|"); }

}  // namespace pctally
