#include "report/print/escape.h"

#include <fmt/format.h>
#include <locale.h>
#include <stdint.h>
#include <wchar.h>

#include <algorithm>
#include <iterator>

namespace pctally {
namespace {

/// Stands in names that were cut.
std::string_view g_ellipsis = "…";

struct Range {
  char32_t first, last;
};

// C1 controls, and what Unicode calls format characters and line separators: they turn, join or hide text.
// And the two that XML does not allow.
constexpr Range kInvisible[] = {
    {0x80, 0x9f},       {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
    {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},   {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1345f}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a},
    {0xe0000, 0xe0fff},
};

bool is_invisible(char32_t code) {
  return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                     [code](const Range& range) { return code >= range.first && code <= range.last; });
}

struct Character {
  char32_t code = 0;
  size_t bytes = 0;  ///< 0: not UTF-8
};

size_t length_by_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

/// The first character of text. Overlong forms, surrogates and codes above U+10FFFF are not UTF-8.
Character first_character(std::string_view text) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  auto lead = static_cast<unsigned char>(text[0]);
  size_t length = length_by_lead(lead);
  if (length == 0 || length > text.size()) return {};
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3f);
  }
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return {};
  return {code, length};
}

/// Columns of a terminal, whatever its locale: 2 for most of East Asia's characters, 0 for what is drawn
/// above another one.
size_t columns_of(const Character& character) {
  if (character.code < 0x80) return 1;
  static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  if (utf8 == nullptr) return 1;
  const locale_t before = uselocale(utf8);
  const int columns = wcwidth(static_cast<wchar_t>(character.code));
  uselocale(before);
  return columns < 0 ? 1 : static_cast<size_t>(columns);
}

std::string byte_as_text(char byte) { return fmt::format("\\x{:02x}", static_cast<unsigned char>(byte)); }

bool is_plain(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char byte) { return byte >= 0x20 && byte < 0x7f; });
}

std::string piece_for_people(std::string_view text, const Character& character) {
  if (character.bytes == 0) return byte_as_text(text[0]);
  if (character.code < 0x20 || character.code == 0x7f) return byte_as_text(text[0]);
  if (is_invisible(character.code)) return fmt::format("\\u{{{:x}}}", static_cast<uint32_t>(character.code));
  return std::string(text.substr(0, character.bytes));
}

/// The last "::" outside brackets; npos if there is none.
size_t last_scope(std::string_view text) {
  size_t found = std::string_view::npos, depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::string_view("<([{").find(text[i]) != std::string_view::npos) ++depth;
    if (depth > 0 && std::string_view(">)]}").find(text[i]) != std::string_view::npos) --depth;
    if (depth == 0 && i != 0 && text.substr(i).starts_with("::")) found = i;
  }
  return found;
}

std::string escaped_up_to(size_t longest, std::string_view name) {
  if (name.size() <= longest && is_plain(name)) return std::string(name);
  std::string result;
  size_t whole = 0;  // length of the result that leaves room for the ellipsis
  while (!name.empty()) {
    Character character = first_character(name);
    std::string piece = piece_for_people(name, character);
    if (result.size() + piece.size() > longest) return result.substr(0, whole).append(g_ellipsis);
    result += piece;
    if (result.size() + g_ellipsis.size() <= longest) whole = result.size();
    name.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return result;
}

}  // namespace

std::string escaped(std::string_view name) { return escaped_up_to(kLongestShown, name); }

std::string escaped_whole(std::string_view name) { return escaped_up_to(SIZE_MAX, name); }

std::string valid_utf8(std::string_view name) {
  if (is_plain(name)) return std::string(name);
  std::string result;
  while (!name.empty()) {
    Character character = first_character(name);
    if (character.bytes == 0)
      result += byte_as_text(name[0]);
    else
      result += name.substr(0, character.bytes);
    name.remove_prefix(std::max<size_t>(character.bytes, 1));
  }
  return result;
}

std::string marked_up(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (byte == '&')
      out += "&amp;";
    else if (byte == '<')
      out += "&lt;";
    else if (byte == '>')
      out += "&gt;";
    else if (byte == '"')
      out += "&quot;";
    else
      out += byte;
  }
  return out;
}

size_t width_of(std::string_view text) {
  if (is_plain(text)) return text.size();
  size_t width = 0;
  while (!text.empty()) {
    const Character character = first_character(text);
    width += columns_of(character);
    text.remove_prefix(std::max<size_t>(1, character.bytes));
  }
  return width;
}

void elide_in_ascii(bool wanted) { g_ellipsis = wanted ? "..." : "…"; }

std::string elided(std::string_view text, size_t width) {
  if (width_of(text) <= width) return std::string(text);
  const size_t sign = width_of(g_ellipsis);
  if (width <= sign) return std::string(g_ellipsis.substr(0, sign == 1 ? std::string_view::npos : width));
  size_t bytes = 0;
  for (size_t kept = sign;;) {
    const Character next = first_character(text.substr(bytes));
    kept += columns_of(next);
    if (kept > width) break;
    bytes += std::max<size_t>(1, next.bytes);
  }
  return std::string(text.substr(0, bytes)).append(g_ellipsis);
}

std::string elided_name(std::string_view text, size_t width) {
  constexpr std::string_view kScope = "::";
  const size_t last = last_scope(text);
  if (width_of(text) <= width || last == std::string_view::npos) return elided(text, width);
  const std::string_view tail = text.substr(last);
  if (width_of(tail) + width_of(g_ellipsis) + 1 > width) return elided(tail.substr(kScope.size()), width);
  std::string head = elided(text.substr(0, last), width - width_of(tail));
  head.resize(head.size() - g_ellipsis.size());
  if (size_t scope = head.rfind(kScope); scope != std::string::npos) head.resize(scope + kScope.size());
  return head.append(g_ellipsis).append(tail);
}

}  // namespace pctally
