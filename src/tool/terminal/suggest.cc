#include "tool/terminal/suggest.h"

#include <algorithm>

namespace pctally {
namespace {

/// Letters to insert, remove, replace, or swap with their neighbour, to turn one word into the other.
size_t distance(std::string_view from, std::string_view to) {
  std::vector<size_t> two_before, before(to.size() + 1), now(to.size() + 1);
  for (size_t j = 0; j <= to.size(); ++j) before[j] = j;
  for (size_t i = 1; i <= from.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      size_t replaced = before[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, replaced});
      bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) now[j] = std::min(now[j], two_before[j - 2] + 1);
    }
    two_before = before;
    before = now;
  }
  return before[to.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    bool begun = word.size() >= 2 && candidate.starts_with(word);
    size_t apart = begun ? 0 : distance(word, candidate);
    if (apart >= least) continue;
    least = apart;
    best = candidate;
  }
  return best;
}

}  // namespace pctally
