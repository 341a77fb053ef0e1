#include "export/llvm/control_flow.h"

#include <algorithm>
#include <optional>

#include "export/llvm/dominators.h"

namespace pctally {
namespace {

constexpr size_t kMostBlocks = 1 << 16;
constexpr size_t kMostSteps = 1 << 26;  ///< of a search for loops: they may lie in each other to any depth

struct Blocks {
  std::vector<uint32_t> of;  ///< of each instruction; 0 is the first
  Graph next;
  bool known = true;  ///< false: a jump leads nobody knows where
};

std::optional<size_t> index_at(const std::vector<Instruction>& code, uint64_t address) {
  const auto found = std::ranges::lower_bound(code, address, {}, &Instruction::address);
  if (found == code.end() || found->address != address) return {};
  return found - code.begin();
}

bool is_jump(const Instruction& instruction) { return instruction.kind == Instruction::Kind::kJump; }

std::vector<uint32_t> number_blocks(const std::vector<Instruction>& code) {
  std::vector<bool> starts(code.size() + 1);
  for (size_t i = 0; i < code.size(); ++i) {
    if (is_jump(code[i]) || !code[i].falls_through) starts[i + 1] = true;
    if (!is_jump(code[i])) continue;
    if (const auto target = index_at(code, code[i].target)) starts[*target] = true;
  }
  std::vector<uint32_t> of(code.size());
  for (size_t i = 1; i < code.size(); ++i) of[i] = of[i - 1] + (starts[i] ? 1 : 0);
  return of;
}

Blocks blocks_of(const std::vector<Instruction>& code) {
  Blocks blocks{number_blocks(code), {}};
  blocks.next.resize(code.empty() ? 0 : blocks.of.back() + 1);
  for (size_t i = 0; i < code.size(); ++i) {
    const uint32_t block = blocks.of[i];
    const bool is_last = i + 1 == code.size() || blocks.of[i + 1] != block;
    if (!is_last) continue;
    if (is_jump(code[i]) && code[i].target == 0) blocks.known = false;
    if (const auto target = index_at(code, code[i].target); is_jump(code[i]) && target)
      blocks.next[block].push_back(blocks.of[*target]);
    if (code[i].falls_through && i + 1 < code.size()) blocks.next[block].push_back(block + 1);
  }
  return blocks;
}

/// Blocks that leave the function get a common exit behind them, so that there is something to post-dominate.
Graph with_exit(Graph graph) {
  const auto exit = static_cast<uint32_t>(graph.size());
  for (std::vector<uint32_t>& next : graph)
    if (next.empty()) next.push_back(exit);
  graph.emplace_back();
  return graph;
}

/// The first block of the innermost loop around each block; kNone outside loops. Nothing if that
/// takes too long.
std::optional<std::vector<uint32_t>> innermost_loops(const Graph& before, const Dominators& dominators) {
  std::vector<uint32_t> loop(before.size(), Dominators::kNone);
  std::vector<uint32_t> seen(before.size(), Dominators::kNone);
  size_t steps = 0;
  for (uint32_t head : dominators.order()) {  // the outer loops first
    std::vector<uint32_t> open;
    for (uint32_t from : before[head])
      if (dominators.dominates(head, from)) open.push_back(from);
    if (open.empty()) continue;
    loop[head] = seen[head] = head;
    while (!open.empty()) {
      const uint32_t block = open.back();
      open.pop_back();
      if (seen[block] == head || !dominators.dominates(head, block)) continue;
      loop[block] = seen[block] = head;
      open.insert(open.end(), before[block].begin(), before[block].end());
      steps += 1 + before[block].size();
      if (steps > kMostSteps) return {};
    }
  }
  return loop;
}

/// For each block, the first block that ran as often.
std::vector<uint32_t> leaders(const Graph& blocks) {
  constexpr unsigned kFarthest = 256;  ///< blocks up the tree: bounds the search, costs a class or two
  const Graph graph = with_exit(blocks), before = reversed(graph);
  const Dominators dominators(graph, before, 0);
  const Dominators post(before, graph, static_cast<uint32_t>(blocks.size()));
  std::vector<uint32_t> leader(blocks.size());
  for (uint32_t block = 0; block < blocks.size(); ++block) leader[block] = block;
  const auto loop = innermost_loops(before, dominators);
  if (!loop) return leader;
  for (uint32_t block : dominators.order()) {
    if (block == blocks.size()) continue;
    uint32_t above = dominators.above(block);
    for (unsigned step = 0; above != Dominators::kNone && step < kFarthest; ++step) {
      if ((*loop)[above] == (*loop)[block] && post.dominates(block, above)) {
        leader[block] = leader[above];
        break;
      }
      above = dominators.above(above);
    }
  }
  return leader;
}

}  // namespace

std::vector<uint32_t> equally_often(const std::vector<Instruction>& instructions) {
  Blocks blocks = blocks_of(instructions);
  if (!blocks.known || blocks.next.size() > kMostBlocks) return std::move(blocks.of);
  const std::vector<uint32_t> leader = leaders(blocks.next);
  for (uint32_t& block : blocks.of) block = leader[block];
  return std::move(blocks.of);
}

}  // namespace pctally
