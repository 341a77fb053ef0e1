#include "report/paths/call_edges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "report/paths/plane_calls.h"

namespace pctally {
namespace {

/// Things that may recur on a path: each counts once a path. Of the call plane they have at least the largest
/// entry.
class OncePerPath {
 public:
  void enter(uint32_t thing, uint64_t ticks) {
    make_room(thing);
    if (depth_[thing]++ == 0) ticks_[thing] += ticks;
  }
  void leave(uint32_t thing) { --depth_[thing]; }
  void add_plane(uint32_t thing, const PlaneCall& call) { plane_[thing].add(call.scope, call.ticks); }
  void know(uint32_t thing, uint64_t ticks) {
    make_room(thing);
    ticks_[thing] = std::max(ticks_[thing], ticks);
  }
  /// REQUIRES: called once, at the end.
  [[nodiscard]] const std::vector<uint64_t>& take_ticks() {
    for (const auto& [thing, plane] : plane_) know(thing, plane.least());
    return ticks_;
  }

 private:
  void make_room(uint32_t thing) {
    if (thing >= depth_.size()) depth_.resize(thing + size_t{1});
    if (thing >= ticks_.size()) ticks_.resize(thing + size_t{1});
  }

  std::map<uint32_t, PlaneTicks> plane_;
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
    for_each_plane_call(paths_, [this](const PlaneCall& call) { add(call); });
    if (!paths_.plane().empty()) add_known();
    CallEdges result;
    const std::vector<uint64_t>& edge_ticks = edge_ticks_.take_ticks();
    for (size_t i = 0; i < edges_.size(); ++i) {
      edges_[i].ticks = edge_ticks[i];
      if (edges_[i].ticks != 0) result.edges.push_back(std::move(edges_[i]));
    }
    std::stable_sort(result.edges.begin(), result.edges.end(),
                     [](const CallEdge& a, const CallEdge& b) { return a.ticks > b.ticks; });
    const std::vector<uint64_t>& function_ticks = function_ticks_.take_ticks();
    for (size_t i = 0; i < functions_.size(); ++i) result.on_stack[functions_[i]] = function_ticks[i];
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

  const std::vector<Place>& places(const std::vector<StackFrame>& frames) {
    const auto [known, fresh] = places_.try_emplace(&frames);
    if (!fresh) return known->second;
    for (const StackFrame& frame : frames) known->second.push_back(place_of(frame));
    return known->second;
  }

  Place place_of(const StackFrame& frame) {
    const int64_t function = number_(frame);
    const auto [entry, first] = dense_.try_emplace(function, static_cast<uint32_t>(functions_.size()));
    if (first) functions_.push_back(function);
    if (first) known_ticks_.push_back(paths_.known(frame));
    return {&frame, function, entry->second};
  }

  /// The number of an edge.
  uint32_t edge_of(const Place* caller, int64_t callee) {
    CallEdge edge{.caller = caller == nullptr ? CallEdge::kOutermost : caller->function,
                  .file = caller == nullptr || callee < 0 ? "" : caller->frame->file,
                  .line = caller == nullptr || callee < 0 ? 0 : caller->frame->line,
                  .callee = callee};
    const auto [known, fresh] = known_.try_emplace(Key{edge.caller, edge.file, edge.line, callee},
                                                   static_cast<uint32_t>(edges_.size()));
    if (fresh) edges_.push_back(std::move(edge));
    return known->second;
  }

  void add(const Place* caller, int64_t callee, uint64_t ticks, Visit* visit) {
    const uint32_t edge = edge_of(caller, callee);
    edge_ticks_.enter(edge, ticks);
    visit->edges.push_back(edge);
  }

  void add(const PlaneCall& call) {
    const Place& caller = places(call.frames)[call.caller];
    const bool is_inlined = call.caller + 1 < call.frames.size();
    const Place callee = is_inlined ? places(call.frames)[call.caller + 1] : place_of(call.callee);
    edge_ticks_.add_plane(edge_of(&caller, callee.function), call);
    if (caller.frame->inlined) function_ticks_.add_plane(caller.dense, call);
  }

  /// What the table says of functions.
  void add_known() {
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      function_ticks_.know(i, known_ticks_[i].low);
      if (!known_ticks_[i].complete || known_ticks_[i].self == 0) continue;
      const Place function{nullptr, functions_[i], i};
      edge_ticks_.know(edge_of(&function, CallEdge::kItself), known_ticks_[i].self);
    }
  }

  void enter(uint32_t node) {
    Visit visit{.frames = stack_.size(), .edges = {}};
    const uint64_t below = paths_.below()[node];
    for (const Place& place : places(paths_.frames(node))) {
      add(stack_.empty() ? nullptr : stack_.back(), place.function, below, &visit);
      function_ticks_.enter(place.dense, below);
      stack_.push_back(&place);
    }
    const PathTreeNode& own = paths_.tree()[node];
    if (!stack_.empty() && own.self != 0) add(stack_.back(), CallEdge::kItself, own.self, &visit);
    const bool is_known =
        !stack_.empty() && !paths_.plane().empty() && known_ticks_[stack_.back()->dense].complete;
    if (!stack_.empty() && own.folded != 0 && !is_known)
      add(stack_.back(), CallEdge::kFolded, own.folded, &visit);
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
  std::vector<KnownTicks> known_ticks_;  ///< of each of these
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
