#include "object/elf/cover.h"

#include <algorithm>

namespace pctally {
namespace {

/// The first position at or after `i` that has no winner yet, halving the path walked (union-find).
uint32_t free_from(std::vector<uint32_t>& next, uint32_t i) {
  while (next[i] != i) {
    next[i] = next[next[i]];
    i = next[i];
  }
  return i;
}

}  // namespace

Cover::Cover(std::span<const uint64_t> wanted)
    : wanted_(wanted),
      below_(wanted.size() + 1, 0),
      above_(wanted.size() + 1, UINT64_MAX),
      winners_(wanted.size(), kNobody) {}

size_t Cover::first_at_or_after(uint64_t address) const {
  return static_cast<size_t>(std::ranges::lower_bound(wanted_, address) - wanted_.begin());
}

void Cover::add(uint64_t start, uint64_t end, uint64_t id) {
  if (start >= end) return;
  // An edge at e is the lower bound of the first position at or after e and the upper bound of the
  // one before it.
  const size_t first = first_at_or_after(start);
  const size_t last = first < wanted_.size() && wanted_[first] < end ? first_at_or_after(end) : first;
  below_[first] = std::max(below_[first], last == first ? end : start);
  above_[first] = std::min(above_[first], start);
  if (last == first) return;
  below_[last] = std::max(below_[last], end);
  above_[last] = std::min(above_[last], end);
  candidates_.push_back({start, end, id});
}

void Cover::assign(size_t index, std::vector<uint32_t>* next) {
  const Candidate& candidate = candidates_[index];
  auto i = free_from(*next, static_cast<uint32_t>(first_at_or_after(candidate.start)));
  while (i < wanted_.size() && wanted_[i] < candidate.end) {
    winners_[i] = index;
    (*next)[i] = i + 1;
    i = free_from(*next, i + 1);
  }
}

void Cover::resolve(const std::function<bool(const Candidate&, const Candidate&)>& before) {
  for (size_t i = 1; i < below_.size(); i++) below_[i] = std::max(below_[i], below_[i - 1]);
  for (size_t i = above_.size() - 1; i-- > 0;) above_[i] = std::min(above_[i], above_[i + 1]);
  std::sort(candidates_.begin(), candidates_.end(), before);
  std::vector<uint32_t> next(wanted_.size() + 1);
  for (uint32_t i = 0; i < next.size(); i++) next[i] = i;
  for (size_t i = 0; i < candidates_.size(); i++) assign(i, &next);
}

}  // namespace pctally
