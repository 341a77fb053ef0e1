#include <algorithm>

#include "report/html/parts.h"
#include "report/paths/call_edges.h"

namespace pctally {
namespace {

constexpr uint64_t kThinnest = 10000;  ///< of all ticks, the part that is still drawn
constexpr int64_t kAllLines = -1;      ///< for a file: calls of a pair from several lines, all of them

}  // namespace

uint64_t least_drawn(uint64_t all_ticks) { return std::max<uint64_t>(1, all_ticks / kThinnest); }

HtmlJson html_call_tree(const CallTreeNode& tree, uint64_t least, FunctionList* list) {
  uint64_t nodes = 0, shown = 0;
  for_each_node(tree, 0, [&](const CallTreeNode&, int64_t) { ++nodes; });
  HtmlJson flat = HtmlJson::array(), estimates = HtmlJson::array();
  for_each_node(tree, least, [&](const CallTreeNode& node, int64_t parent) {
    if (node.inexact) estimates.push_back(shown);
    ++shown;
    uint64_t end_here = node.ticks;
    for (const CallTreeNode& child : node.children) end_here -= child.ticks;
    for (const HtmlJson& value :
         {HtmlJson(parent), HtmlJson(list->number(*node.frame)), HtmlJson(node.ticks), HtmlJson(end_here)})
      flat.push_back(value);
  });
  return {{"nodes", std::move(flat)}, {"estimates", std::move(estimates)}, {"left_out", nodes - shown}};
}

void add_call_edges(const NamedPaths& paths, double samples_per_tick, size_t most_calls, FunctionList* list,
                    Texts* texts, HtmlJson* data) {
  const CallEdges calls = call_edges(paths, [&](const StackFrame& frame) { return list->number(frame); });
  HtmlJson flat = HtmlJson::array();
  uint64_t kept = 0, left_out = 0, most = 0;
  for (const CallEdge& edge : calls.edges) {
    if (may_be_nothing(edge, calls, samples_per_tick)) continue;
    const bool is_call = edge.callee >= 0;
    if (is_call && kept == most_calls) {
      left_out += edge.is_sum ? 0 : 1;
      most = std::max(most, edge.high);
      continue;
    }
    kept += is_call ? 1 : 0;
    const int64_t file = edge.is_sum ? kAllLines : texts->number_of_path(edge.file);
    for (const HtmlJson& value : {HtmlJson(edge.caller), HtmlJson(edge.callee), HtmlJson(file),
                                  HtmlJson(edge.line), HtmlJson(edge.ticks), HtmlJson(edge.high)})
      flat.push_back(value);
  }
  (*data)["edges"] = std::move(flat);
  (*data)["edges_left_out"] = {{"calls", left_out}, {"ticks", most}};
  HtmlJson& on_stack = (*data)["on_stack"] = HtmlJson::object();
  for (const auto& [function, ticks] : calls.on_stack)
    on_stack.add(std::to_string(function), HtmlJson::array({ticks.low, ticks.high}));
}

}  // namespace pctally
