// Applies a key of the live view to its state. Pure state, no terminal.
#pragma once
#include <stddef.h>

#include <optional>
#include <string>

#include "report/rollup.h"

namespace pctally {

/// A character as its code point, or one of these.
enum TopKey : unsigned { kKeyUp = 0x110000, kKeyDown, kKeyPageUp, kKeyPageDown, kKeyHome, kKeyBackspace };
inline constexpr unsigned kKeyEnter = '\n', kKeyEscape = 0x1b;

struct TopState {
  Grouping by = Grouping::kFunction;
  std::string filter;     ///< UTF-8
  size_t first = 0;       ///< row at the top
  bool choosing = false;  ///< a row is chosen, whose callers are shown
  size_t chosen = 0;
  std::optional<Grouping> scopes;  ///< what the recording keeps apart
  bool typing = false;
  bool frozen = false;
  bool help = false;
  bool quit = false;
  bool write = false;  ///< a snapshot is wanted; whoever writes it sets this to false
};

/// `page` is the number of rows shown at once, `rows` of all there are.
void press(unsigned key, size_t page, size_t rows, TopState* state);

}  // namespace pctally
