// Pieces of positions that overlap, as pieces that do not: where several lie, the greatest counts.
//
// Takes n log n comparisons, whatever overlaps: files from elsewhere say what does. What a comparison takes
// is up to the caller.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace pctally {

/// Positions [first, end), and what is there.
template <class Value>
struct Piece {
  uint64_t first = 0;
  uint64_t end = 0;
  Value value{};
};

/// Ascending. Pieces that end where they begin, or before, are left out.
template <class Value, class IsLess>
std::vector<Piece<Value>> overlay(std::vector<Piece<Value>> pieces, IsLess is_less) {
  std::erase_if(pieces, [](const Piece<Value>& piece) { return piece.end <= piece.first; });
  std::ranges::stable_sort(pieces, {}, &Piece<Value>::first);
  const auto overlaps = [](const Piece<Value>& a, const Piece<Value>& b) { return b.first < a.end; };
  if (std::ranges::adjacent_find(pieces, overlaps) == pieces.end()) return pieces;
  const auto below = [&](const Piece<Value>* a, const Piece<Value>* b) {
    return is_less(a->value, b->value);
  };
  std::multiset<const Piece<Value>*, decltype(below)> here(below);
  std::multimap<uint64_t, typename decltype(here)::iterator> ends;
  std::vector<Piece<Value>> result;
  uint64_t from = 0;
  for (auto next = pieces.begin(); next != pieces.end() || !ends.empty();) {
    uint64_t at = ends.empty() ? next->first : ends.begin()->first;
    if (next != pieces.end()) at = std::min(at, next->first);
    if (!here.empty()) result.push_back({from, at, (*here.rbegin())->value});
    from = at;
    for (; !ends.empty() && ends.begin()->first == at; ends.erase(ends.begin()))
      here.erase(ends.begin()->second);
    for (; next != pieces.end() && next->first == at; ++next) ends.emplace(next->end, here.insert(&*next));
  }
  return result;
}

/// The piece that holds a position, or null.
template <class Value>
const Piece<Value>* piece_at(std::span<const Piece<Value>> pieces, uint64_t position) {
  const auto behind = std::ranges::upper_bound(pieces, position, {}, &Piece<Value>::first);
  if (behind == pieces.begin()) return nullptr;
  const Piece<Value>* last = &*(behind - 1);
  return position < last->end ? last : nullptr;
}

}  // namespace pctally
