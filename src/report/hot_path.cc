#include "report/hot_path.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/names/short_name.h"
#include "report/names/shown_names.h"
#include "report/part_of_profile.h"

namespace pctally {
namespace {

constexpr double kLeastPart = 0.4;  ///< of its caller's ticks that the next function has to have
constexpr ptrdiff_t kMostSteps = 8;
constexpr double kLeastShare = 0.05;  ///< of all ticks

/// Nodes with the same functions on the way to them, and their ticks.
struct Step {
  uint32_t function = PathFunctions::kNone;
  std::vector<uint32_t> nodes;
  uint64_t ticks = 0;
};

bool is_of(const Row& row, const HotFrame& frame) {
  return std::tie(row.object, row.function, row.address) ==
         std::tie(frame.object, frame.function, frame.address);
}

class HotPathWalk {
 public:
  HotPathWalk(const Profile& profile, const PathFunctions& functions)
      : tree_(profile.paths.context),
        functions_(functions),
        children_(children_of(tree_)),
        below_(ticks_below(tree_)),
        all_(static_cast<double>(std::max<uint64_t>(profile.ledger.ticks(), 1))) {}

  HotPath run() {
    Step step;
    for (uint32_t root : children_.roots) step.nodes.push_back(root);
    for (step.ticks = UINT64_MAX; take_hottest(&step);) {
      const PathFunction& function = functions_.functions[step.function];
      const double share = static_cast<double>(step.ticks) / all_;
      if (share < kLeastShare) break;
      const bool start = is_start(function.key.function);
      if (function.key.function == "main" || start) {
        path_.clear();
        all_functions_.clear();
      }
      if (start) continue;
      path_.push_back({.function = function.key.function,
                       .linkage = function.linkage,
                       .share = share,
                       .object = function.key.object,
                       .address = function.address});
      all_functions_.push_back(step.function);
    }
    return {shortened(), std::move(all_functions_)};
  }

 private:
  /// What every program runs before its own code.
  static bool is_start(const std::string& function) {
    return function == "_start" || function.starts_with("__libc_start_") || function == "clone3" ||
           function == "start_thread";
  }

  /// Not what stands for paths that were left out, say.
  [[nodiscard]] bool is_code(uint32_t function) const {
    return !stands_for_no_code(functions_.functions[function].key.object);
  }

  /// A function of the program that an interpreter runs.
  static bool is_interpreted(const HotFrame& frame) { return frame.function.starts_with("py::"); }

  /// `frame` takes the place of `former`. Those of the interpreter stand between those it interprets, with
  /// the same share.
  static bool stands_for(const HotFrame& frame, const HotFrame& former) {
    return std::lround(100 * former.share) == std::lround(100 * frame.share) &&
           (is_interpreted(frame) || !is_interpreted(former));
  }

  /// Keeps the first function, the innermost of functions with the same share (and that of interpreted ones),
  /// and only the last few in all; marks where some were left out.
  std::vector<HotFrame> shortened() {
    std::vector<HotFrame> steps;
    for (HotFrame& frame : path_) {
      const size_t before = steps.size();
      while (steps.size() > 1 && stands_for(frame, steps.back())) steps.pop_back();
      frame.after_left_out = steps.size() < before;
      steps.push_back(std::move(frame));
    }
    if (std::ssize(steps) <= kMostSteps) return steps;
    steps.erase(steps.begin() + 1, steps.end() - (kMostSteps - 1));
    steps[1].after_left_out = true;
    return steps;
  }

  /// Goes on to the callee with most ticks; direct recursion is no step.
  bool take_hottest(Step* step) {
    std::map<uint32_t, Step> callees;
    for (size_t i = 0; i < step->nodes.size(); ++i) {
      for (uint32_t child = children_.first[step->nodes[i]]; child != PathChildren::kNone;
           child = children_.next[child]) {
        const uint32_t function = functions_.context[child];
        if (function == step->function && function != PathFunctions::kNone) step->nodes.push_back(child);
        if (function == step->function || function == PathFunctions::kNone || !is_code(function)) continue;
        Step& callee = callees[function];
        callee.function = function;
        callee.nodes.push_back(child);
        callee.ticks += below_[child];
      }
    }
    const auto hottest = std::max_element(callees.begin(), callees.end(), [](const auto& a, const auto& b) {
      return a.second.ticks < b.second.ticks;
    });
    if (hottest == callees.end()) return false;
    const bool first = step->ticks == UINT64_MAX;
    if (!first && static_cast<double>(hottest->second.ticks) < kLeastPart * static_cast<double>(step->ticks))
      return false;
    Step next = std::move(hottest->second);
    *step = std::move(next);
    return true;
  }

  const PathTree& tree_;
  const PathFunctions& functions_;
  PathChildren children_;
  std::vector<uint64_t> below_;
  double all_;
  std::vector<HotFrame> path_;
  std::vector<uint32_t> all_functions_;
};

}  // namespace

HotPath hot_path(const Profile& profile, const PathFunctions& functions) {
  return HotPathWalk(profile, functions).run();
}

void name_hot_path(const std::vector<Row>& rows, std::vector<HotFrame>* path) {
  for (HotFrame& frame : *path) {
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& candidate) { return is_of(candidate, frame); });
    frame.short_name =
        row != rows.end() ? row->short_function : short_function_name(frame.function, frame.linkage);
  }
  std::vector<FunctionName> functions;
  std::vector<std::string> shown;
  for (const HotFrame& frame : *path) {
    functions.push_back({frame.function, frame.linkage, frame.object, frame.address});
    shown.push_back(frame.short_name);
  }
  const std::vector<bool> several = are_in_several_objects(functions, shown);
  for (size_t i = 0; i < path->size(); ++i) (*path)[i].in_several_objects = several[i];
}

}  // namespace pctally
