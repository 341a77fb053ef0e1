#include "report/paths/part_shares.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace pctally {
namespace {

using Product = unsigned __int128;

/// From then on paths get whole parts: a file of another tool may have millions of both. These paths have the
/// fewest ticks, and a path of one tick gets one part anyway.
constexpr uint64_t kMostVisited = 10'000'000;

}  // namespace

PartShares::PartShares(std::vector<uint64_t> parts)
    : left_(std::move(parts)), sum_(std::accumulate(left_.begin(), left_.end(), uint64_t{0})) {}

std::vector<PartShares::Share> PartShares::take(uint64_t ticks) {
  ticks = std::min(ticks, sum_);
  if (ticks == 0) return {};
  const bool few = visited_ + left_.size() <= kMostVisited;
  std::vector<Share> shares = few ? take_in_proportion(ticks) : take_in_order(ticks);
  sum_ -= ticks;
  return shares;
}

std::vector<PartShares::Share> PartShares::take_of_few(uint64_t ticks) {
  ticks = std::min(ticks, sum_);
  sum_ -= ticks;
  return take_in_order(ticks);
}

std::vector<PartShares::Share> PartShares::take_in_proportion(uint64_t ticks) {
  visited_ += left_.size();
  std::vector<Share> shares;
  std::vector<std::pair<uint64_t, size_t>> remainders;  // and whose they are, among the shares
  uint64_t missing = ticks;
  for (uint32_t part = 0; part < left_.size(); ++part) {
    if (left_[part] == 0) continue;
    const Product product = Product{left_[part]} * ticks;
    remainders.emplace_back(static_cast<uint64_t>(product % sum_), shares.size());
    shares.push_back({part, static_cast<uint64_t>(product / sum_)});
    missing -= shares.back().ticks;
  }
  const auto larger = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  const auto end = remainders.begin() + static_cast<std::ptrdiff_t>(missing);
  std::nth_element(remainders.begin(), end, remainders.end(), larger);
  for (auto at = remainders.begin(); at != end; ++at) ++shares[at->second].ticks;
  std::erase_if(shares, [](const Share& share) { return share.ticks == 0; });
  for (const Share& share : shares) left_[share.part] -= share.ticks;
  return shares;
}

std::vector<PartShares::Share> PartShares::take_in_order(uint64_t ticks) {
  std::vector<Share> shares;
  while (ticks != 0) {
    while (left_[first_] == 0) ++first_;
    const uint64_t own = std::min(ticks, left_[first_]);
    shares.push_back({first_, own});
    left_[first_] -= own;
    ticks -= own;
  }
  return shares;
}

}  // namespace pctally
