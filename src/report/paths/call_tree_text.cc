#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/json.h"
#include "report/paths/call_tree.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

constexpr size_t kLongestRound = 4;  ///< functions that call each other in turn

using Chain = std::vector<const StackFrame*>;

/// How often the `length` functions from `first` on follow one another.
size_t rounds(const Chain& chain, size_t first, size_t length) {
  size_t same = 0;
  while (first + length + same < chain.size() &&
         function_of(*chain[first + same]) == function_of(*chain[first + length + same]))
    ++same;
  return 1 + same / length;
}

/// "a > b > c", where recursion is "a x 1,000", and of two or more in turn "(a > b) x 500".
std::string chain_text(const Chain& chain, NameStyle style) {
  std::string text;
  for (size_t i = 0; i < chain.size();) {
    size_t length = 1, times = rounds(chain, i, 1);
    while (times < 2 && ++length <= kLongestRound) times = rounds(chain, i, length);
    if (times < 2) length = 1;
    std::string round;
    for (size_t k = i; k < i + length; ++k)
      round += (k == i ? "" : " > ") + escaped(name_with_object(style, *chain[k]));
    if (times > 1) round = (length == 1 ? round : "(" + round + ")") + " x " + grouped(times);
    text += (i == 0 ? "" : " > ") + round;
    i += length * times;
  }
  return text;
}

class CallTreeText {
 public:
  CallTreeText(const Profile& profile, const CallTreeTextOptions& options)
      : options_(options),
        all_(static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1))),
        samples_(account_of(profile).effective_samples) {}

  std::string run(const CallTreeNode& tree) {
    const bool has_bounds = has_at_least(tree);
    out_ = options_.bottom_up ? "   share      ±  self time of a function, and below it who called"
                              : "   total      ±  callees below their callers; self: in the function itself";
    out_ += has_bounds ? "; \"or more\": inlined code, part of which may count for the function around it\n"
                       : "\n";
    add_children(tree, "");
    return std::move(out_);
  }

 private:
  [[nodiscard]] double share(uint64_t ticks) const { return static_cast<double>(ticks) / all_; }
  [[nodiscard]] bool is_large(const CallTreeNode& node) const {
    return share(node.ticks) >= options_.min_share;
  }

  static bool has_at_least(const CallTreeNode& tree) {
    bool found = false;
    for_each_node(tree, 0, [&](const CallTreeNode& node, int64_t) { found = found || node.inexact; });
    return found;
  }

  void add_line(uint64_t ticks, bool at_least, const std::string& indent, const std::string& text) {
    if (at_least) {
      out_ += fmt::format("{:6.2f} % or more  {}{}\n", 100 * share(ticks), indent, text);
      return;
    }
    const Interval interval = wilson_interval(share(ticks), samples_);
    out_ += fmt::format("{:6.2f} % {:6.2f}  {}{}\n", 100 * share(ticks),
                        100 * half_width(share(ticks), interval), indent, text);
  }

  /// A chain of functions that each have one large child and next to nothing else is one line.
  void add_node(const CallTreeNode& node, const std::string& first, const std::string& rest) {
    Chain chain{node.frame.get()};
    const CallTreeNode* last = &node;
    uint64_t self = node.self;
    while (continues(*last)) {
      last = &last->children.front();
      chain.push_back(last->frame.get());
      self = last->self;
    }
    std::string text = chain_text(chain, options_.names);
    if (!options_.bottom_up && share(self) >= 0.0005)
      text += fmt::format("   self {:.1f} %", 100 * share(self));
    add_line(node.ticks, last->inexact, first, text);
    add_children(*last, rest);
  }

  [[nodiscard]] bool continues(const CallTreeNode& node) const {
    return node.children.size() == 1 && node.children.front().ticks == node.ticks && node.self == 0;
  }

  void add_children(const CallTreeNode& node, const std::string& indent) {
    uint64_t small = 0, large = 0;
    for (const CallTreeNode& child : node.children) {
      if (!is_large(child)) small += child.ticks;
      if (is_large(child)) ++large;
    }
    // At the outermost always, so that the lines there add up to all ticks.
    const bool with_others = small > 0 && (indent.empty() || share(small) >= options_.min_share);
    for (const CallTreeNode& child : node.children) {
      if (!is_large(child)) continue;
      const bool last = --large == 0 && !with_others;
      add_node(child, indent + (last ? "└ " : "├ "), indent + (last ? "  " : "│ "));
    }
    if (with_others) add_line(small, false, indent + "└ ", "(others)");
  }

  CallTreeTextOptions options_;
  double all_;
  double samples_;
  std::string out_;
};

/// The fewest ticks that are `share` of all, by the text's comparison: a product may be rounded up.
uint64_t least_ticks(double share, uint64_t all) {
  const auto whole = static_cast<double>(std::max<uint64_t>(all, 1));
  auto least = static_cast<uint64_t>(std::ceil(share * whole));
  if (least > 0 && static_cast<double>(least - 1) / whole >= share) --least;
  return least;
}

Json node_json(const CallTreeNode& node, int64_t parent) {
  return {{"parent", parent},
          {"function", valid_utf8(node.frame->function)},
          {"object", valid_utf8(node.frame->object)},
          {"inlined", node.frame->inlined},
          {"at_least", node.inexact},
          {"ticks", node.ticks},
          {"self", node.self}};
}

}  // namespace

std::string call_tree_text(const Profile& profile, const CallTreeNode& tree,
                           const CallTreeTextOptions& options) {
  return CallTreeText(profile, options).run(tree);
}

std::string call_tree_json(const Profile& profile, const CallTreeNode& tree,
                           const CallTreeTextOptions& options) {
  const uint64_t least = least_ticks(options.min_share, profile.ledger.ticks());
  Json json = {
      {"version", kJsonVersion}, {"all_ticks", profile.ledger.ticks()}, {"bottom_up", options.bottom_up}};
  add_warnings(warnings_of(profile), &json);
  // A list, because stacks are deeper than parsers of JSON nest. Behind all: what smaller branches have.
  Json& nodes = json["nodes"] = Json::array();
  std::vector<Json> others;
  const auto others_frame = std::make_shared<const StackFrame>(frame_called("(others)"));
  const auto add_small_children = [&](const CallTreeNode& node, int64_t number) {
    CallTreeNode rest;
    rest.frame = others_frame;
    for (const CallTreeNode& child : node.children)
      if (child.ticks < least) rest.ticks += child.ticks;
    rest.self = options.bottom_up && number >= 0 ? 0 : rest.ticks;
    if (rest.ticks != 0) others.push_back(node_json(rest, number));
  };
  add_small_children(tree, -1);
  for_each_node(tree, least, [&](const CallTreeNode& node, int64_t parent) {
    add_small_children(node, static_cast<int64_t>(nodes.size()));
    nodes.push_back(node_json(node, parent));
  });
  for (Json& node : others) nodes.push_back(std::move(node));
  return json.dump(1) + "\n";
}

}  // namespace pctally
