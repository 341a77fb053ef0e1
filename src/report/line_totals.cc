#include "report/line_totals.h"

#include <algorithm>

namespace pctally {
namespace {

uint64_t pair_of(uint32_t line, uint32_t function) { return uint64_t{line} << 32 | function; }

}  // namespace

std::vector<bool> calls_of(const PathTree& tree) {
  std::vector<bool> is_call(tree.size());
  for (size_t i = tree.size(); i-- > 0;) {
    if (tree[i].parent != PathTreeNode::kNoParent) is_call[tree[i].parent] = true;
    if (tree[i].folded != 0) is_call[i] = true;
  }
  for (size_t i = 0; i < tree.size(); ++i)
    if (tree[i].kind != PathNodeKind::kCode) is_call[i] = false;
  return is_call;
}

LineTotals::LineTotals(const Profile& profile, const PathFunctions& functions)
    : profile_(profile), tree_(profile.paths.context), functions_(functions) {
  things_.context.assign(tree_.size(), PathFunctions::kNone);
}

void LineTotals::add_own(uint32_t line, uint32_t function, uint64_t ticks) {
  own_[pair_of(line, function)].own += ticks;
  if (functions_.functions[function].shared) in_shared_.insert(line);
}

std::vector<PathTotal> LineTotals::totals(std::span<const uint64_t> own) {
  things_.count = own.size();
  std::vector<PathTotal> totals = path_totals(profile_, things_);
  const std::vector<uint64_t> both = counted_twice();
  for (size_t i = 0; i < totals.size(); ++i) {
    totals[i].low += own[i] - std::min(own[i], both[i]);
    totals[i].high += own[i];
    include_own(own[i], &totals[i]);
  }
  return totals;
}

/// For each line, the ticks that may be in it and below a call from it.
std::vector<uint64_t> LineTotals::counted_twice() {
  std::vector<uint32_t> depth(things_.count), open;  // open: the lines on the path, each once
  std::vector<uint64_t> unknown(things_.count), both(things_.count);  // unknown: which function ran
  walk_paths(
      tree_,
      [&](uint32_t node) {
        const uint32_t line = things_.context[node], function = functions_.context[node];
        if (line != PathFunctions::kNone && depth[line]++ == 0) open.push_back(line);
        if (tree_[node].folded != 0)
          for (uint32_t call : open) unknown[call] += tree_[node].folded;
        if (tree_[node].self == 0 || function == PathFunctions::kNone) return;
        const bool several = functions_.functions[function].several;
        for (uint32_t call : open) {
          const auto found = own_.find(pair_of(call, function));
          if (found != own_.end()) found->second.below += tree_[node].self;
          if (several && in_shared_.contains(call)) unknown[call] += tree_[node].self;
        }
      },
      [&](uint32_t node) {
        const uint32_t line = things_.context[node];
        if (line != PathFunctions::kNone && --depth[line] == 0) open.pop_back();
      });
  for (const auto& [pair, own] : own_) both[pair >> 32] += std::min(own.own, own.below);
  for (size_t i = 0; i < both.size(); ++i) both[i] += unknown[i];
  return both;
}

}  // namespace pctally
