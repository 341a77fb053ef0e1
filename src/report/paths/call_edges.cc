#include "report/paths/call_edges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace pctally {
namespace {

/// Things that may recur on a path: each counts once a path.
class OncePerPath {
 public:
  void enter(uint32_t thing, uint64_t ticks) {
    if (thing >= depth_.size()) depth_.resize(thing + size_t{1});
    if (thing >= ticks_.size()) ticks_.resize(thing + size_t{1});
    if (depth_[thing]++ == 0) ticks_[thing] += ticks;
  }
  void leave(uint32_t thing) { --depth_[thing]; }
  [[nodiscard]] const std::vector<uint64_t>& ticks() const { return ticks_; }

 private:
  std::vector<uint32_t> depth_;
  std::vector<uint64_t> ticks_;
};

/// Walks all paths, with the frames of each laid out one after another.
class EdgeWalk {
 public:
  EdgeWalk(const NamedPaths& paths, const std::function<int64_t(const StackFrame&)>& number)
      : paths_(paths), number_(number) {}

  CallEdges run() {
    walk_paths(
        paths_.tree(), [this](uint32_t node) { enter(node); }, [this](uint32_t node) { leave(node); });
    CallEdges result;
    for (size_t i = 0; i < edges_.size(); ++i) {
      edges_[i].ticks = edge_ticks_.ticks()[i];
      if (edges_[i].ticks != 0) result.edges.push_back(std::move(edges_[i]));
    }
    std::stable_sort(result.edges.begin(), result.edges.end(),
                     [](const CallEdge& a, const CallEdge& b) { return a.ticks > b.ticks; });
    for (size_t i = 0; i < functions_.size(); ++i)
      result.on_stack[functions_[i]] = function_ticks_.ticks()[i];
    return result;
  }

 private:
  struct Visit {
    size_t frames = 0;  ///< of the stack before it
    std::vector<uint32_t> edges;
  };
  struct Place {
    const StackFrame* frame = nullptr;
    int64_t function = 0;
    uint32_t dense = 0;
  };
  using Key = std::tuple<int64_t, std::string, uint32_t, int64_t>;

  const std::vector<Place>& places(uint32_t node) {
    const std::vector<StackFrame>& frames = paths_.frames(node);
    const auto [known, fresh] = places_.try_emplace(&frames);
    if (!fresh) return known->second;
    for (const StackFrame& frame : frames) {
      const int64_t function = number_(frame);
      const auto [entry, first] = dense_.try_emplace(function, static_cast<uint32_t>(functions_.size()));
      if (first) functions_.push_back(function);
      known->second.push_back({&frame, function, entry->second});
    }
    return known->second;
  }

  void add(const Place* caller, int64_t callee, uint64_t ticks, Visit* visit) {
    CallEdge edge{.caller = caller == nullptr ? CallEdge::kOutermost : caller->function,
                  .file = caller == nullptr || callee < 0 ? "" : caller->frame->file,
                  .line = caller == nullptr || callee < 0 ? 0 : caller->frame->line,
                  .callee = callee};
    const auto [known, fresh] = known_.try_emplace(Key{edge.caller, edge.file, edge.line, callee},
                                                   static_cast<uint32_t>(edges_.size()));
    if (fresh) edges_.push_back(std::move(edge));
    edge_ticks_.enter(known->second, ticks);
    visit->edges.push_back(known->second);
  }

  void enter(uint32_t node) {
    Visit visit{.frames = stack_.size(), .edges = {}};
    const uint64_t below = paths_.below()[node];
    for (const Place& place : places(node)) {
      add(stack_.empty() ? nullptr : stack_.back(), place.function, below, &visit);
      function_ticks_.enter(place.dense, below);
      stack_.push_back(&place);
    }
    const PathTreeNode& own = paths_.tree()[node];
    if (!stack_.empty() && own.self != 0) add(stack_.back(), CallEdge::kItself, own.self, &visit);
    if (!stack_.empty() && own.folded != 0) add(stack_.back(), CallEdge::kFolded, own.folded, &visit);
    visits_.push_back(std::move(visit));
  }

  void leave(uint32_t /*node*/) {
    for (uint32_t edge : visits_.back().edges) edge_ticks_.leave(edge);
    while (stack_.size() > visits_.back().frames) {
      function_ticks_.leave(stack_.back()->dense);
      stack_.pop_back();
    }
    visits_.pop_back();
  }

  const NamedPaths& paths_;
  const std::function<int64_t(const StackFrame&)>& number_;
  std::unordered_map<const std::vector<StackFrame>*, std::vector<Place>> places_;
  std::unordered_map<int64_t, uint32_t> dense_;  ///< function: its index in functions_
  std::vector<int64_t> functions_;
  std::map<Key, uint32_t> known_;
  std::vector<CallEdge> edges_;
  OncePerPath edge_ticks_, function_ticks_;
  std::vector<const Place*> stack_;
  std::vector<Visit> visits_;
};

}  // namespace

CallEdges call_edges(const NamedPaths& paths, const std::function<int64_t(const StackFrame&)>& number) {
  return EdgeWalk(paths, number).run();
}

}  // namespace pctally
