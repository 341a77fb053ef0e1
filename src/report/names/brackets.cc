#include "report/names/brackets.h"

#include <algorithm>
#include <array>
#include <string>

namespace pctally {
namespace {

/// Whether closing() does nothing at a character, as at most of a name.
constexpr std::array<bool, 256> plain_characters() {
  std::array<bool, 256> plain{};
  plain.fill(true);
  for (const char c : std::string_view("()<>[]{}-o")) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}

}  // namespace

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         (c & 0x80) != 0;
}

bool starts_operator(std::string_view text, size_t at) {
  constexpr std::string_view kWord = "operator";
  // Asked at every character: the comparison is last.
  return at < text.size() && text[at] == kWord[0] && (at == 0 || !is_word(text[at - 1])) &&
         text.substr(at).starts_with(kWord) &&
         (at + kWord.size() == text.size() || !is_word(text[at + kWord.size()]));
}

size_t operator_length(std::string_view text, size_t at) {
  constexpr std::string_view kSymbols[] = {
      "<=>", "<<=", ">>=", "->*", "()", "[]", "->",    "++",     "--",        "<<",   ">>",
      "<=",  ">=",  "==",  "!=",  "&&", "||", "+=",    "-=",     "*=",        "/=",   "%=",
      "^=",  "&=",  "|=",  "<",   ">",  "+",  "-",     "*",      "/",         "%",    "^",
      "&",   "|",   "~",   "!",   "=",  ",",  "\"\" ", " new[]", " delete[]", " new", " delete"};
  constexpr size_t kWord = 8;
  std::string_view rest = text.substr(at + kWord);
  for (std::string_view symbol : kSymbols)
    if (rest.starts_with(symbol)) return kWord + symbol.size();
  return kWord;
}

size_t closing(std::string_view text, size_t open) {
  static constexpr std::array<bool, 256> kPlain = plain_characters();
  std::string pending;
  for (size_t i = open; i < text.size(); ++i) {
    if (kPlain[static_cast<unsigned char>(text[i])]) continue;
    if (starts_operator(text, i)) {
      i += operator_length(text, i) - 1;
      continue;
    }
    char c = text[i];
    if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      ++i;
    } else if (c == '(' || c == '<' || c == '[' || c == '{') {
      pending += c == '(' ? ')' : static_cast<char>(c + 2);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      // A '>' in an expression closes nothing.
      if (pending.back() != c && c == '>') continue;
      while (!pending.empty() && pending.back() != c) pending.pop_back();
      if (pending.empty()) return kNoPlace;
      pending.pop_back();
      if (pending.empty()) return i;
    }
  }
  return kNoPlace;
}

size_t find_outside(std::string_view text, std::string_view word) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == word[0] && text.substr(i).starts_with(word)) return i;
    if (text[i] != '<' && text[i] != '(' && text[i] != '[' && text[i] != '{') continue;
    size_t close = closing(text, i);
    if (close == kNoPlace) return kNoPlace;
    i = close;
  }
  return kNoPlace;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  for (size_t comma; (comma = find_outside(text, ",")) != kNoPlace;) {
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  parts.push_back(text);
  while (!parts.back().empty() && parts.back().ends_with(' ')) parts.back().remove_suffix(1);
  return parts;
}

}  // namespace pctally
