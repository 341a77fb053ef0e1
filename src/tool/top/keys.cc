#include "tool/top/keys.h"

#include <algorithm>

namespace pctally {
namespace {

constexpr size_t kLongestFilter = 100;  ///< bytes

void append_utf8(unsigned code, std::string* text) {
  auto put = [text](unsigned byte) { text->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

void erase_character(std::string* text) {
  while (!text->empty() && (text->back() & 0xc0) == 0x80) text->pop_back();
  if (!text->empty()) text->pop_back();
}

void type(unsigned key, TopState* state) {
  state->first = state->chosen = 0;
  if (key == kKeyEnter || key == '\r' || key == kKeyEscape) state->typing = false;
  if (key == kKeyEscape) state->filter.clear();
  if (key == kKeyBackspace || key == 0x7f || key == 8) erase_character(&state->filter);
  bool printable = key >= 0x20 && key < 0x110000 && key != 0x7f && (key < 0xd800 || key > 0xdfff);
  if (printable && state->filter.size() < kLongestFilter) append_utf8(key, &state->filter);
}

bool scroll(unsigned key, size_t page, size_t rows, size_t* first) {
  size_t last = rows > page ? rows - page : 0;
  if (key == kKeyUp) *first -= std::min<size_t>(*first, 1);
  if (key == kKeyDown) *first += 1;
  if (key == kKeyPageUp) *first -= std::min(*first, page);
  if (key == kKeyPageDown) *first += page;
  if (key == kKeyHome) *first = 0;
  *first = std::min(*first, last);
  return key >= kKeyUp && key <= kKeyHome;
}

/// As scroll(), of the row that is chosen: it stays on the screen.
bool choose(unsigned key, size_t page, size_t rows, TopState* state) {
  const bool moved = scroll(key, 1, rows, &state->chosen);
  if (key == kKeyPageUp) state->chosen -= std::min(state->chosen, page - 1);
  if (key == kKeyPageDown) state->chosen = std::min(state->chosen + page - 1, rows == 0 ? 0 : rows - 1);
  state->first = std::min(state->first, state->chosen);
  if (state->chosen >= state->first + page) state->first = state->chosen - page + 1;
  return moved;
}

bool regroup(unsigned key, TopState* state) {
  Grouping by;
  switch (key) {
    case 'f':
      by = Grouping::kFunction;
      break;
    case 'o':
      by = Grouping::kObject;
      break;
    case 'l':
      by = Grouping::kLine;
      break;
    case 'p':
      by = Grouping::kProcess;
      break;
    case 'c':
      by = Grouping::kCommand;
      break;
    case 's':
      if (!state->scopes) return false;
      by = *state->scopes;
      break;
    default:
      return false;
  }
  state->by = by;
  state->first = state->chosen = 0;
  return true;
}

}  // namespace

void press(unsigned key, size_t page, size_t rows, TopState* state) {
  if (state->typing) return type(key, state);
  if (state->help) {
    state->help = false;
    state->quit = key == 'q';
    return;
  }
  if (state->choosing ? choose(key, page, rows, state) : scroll(key, page, rows, &state->first)) return;
  if (regroup(key, state)) return;
  if (key == 'q' || key == 'Q') state->quit = true;
  if (key == 'h' || key == '?') state->help = true;
  if (key == ' ') state->frozen = !state->frozen;
  if (key == 'w') state->write = true;
  if (key == '/') state->typing = true;
  if (key == kKeyEscape) state->filter.clear();
}

}  // namespace pctally
