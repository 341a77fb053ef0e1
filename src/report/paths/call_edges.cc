#include "report/paths/call_edges.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "report/paths/call_cycles.h"
#include "report/paths/call_ranges.h"
#include "report/paths/inlined_ticks.h"
#include "report/statistics/interval.h"

namespace pctally {
namespace {

/// Things that may recur on a path: each counts once a path.
class OncePerPath {
 public:
  void enter(uint32_t thing, const KeptTicks& ticks) {
    make_room(thing);
    if (depth_[thing]++ == 0) kept_[thing] += ticks;
  }
  void leave(uint32_t thing) { --depth_[thing]; }
  void add_plane(uint32_t thing, const PlaneCall& call) { plane_[thing].add(call.scope, call.ticks); }

  /// How often it is on the path at hand.
  [[nodiscard]] uint32_t depth(uint32_t thing) const { return thing < depth_.size() ? depth_[thing] : 0; }
  [[nodiscard]] KeptTicks kept(uint32_t thing) const {
    return thing < kept_.size() ? kept_[thing] : KeptTicks{};
  }
  [[nodiscard]] const PlaneTicks& plane(uint32_t thing) const {
    static const PlaneTicks kNone;
    const auto found = plane_.find(thing);
    return found == plane_.end() ? kNone : found->second;
  }

 private:
  void make_room(uint32_t thing) {
    if (thing < depth_.size()) return;
    depth_.resize(thing + size_t{1});
    kept_.resize(thing + size_t{1});
  }

  std::map<uint32_t, PlaneTicks> plane_;
  std::vector<uint32_t> depth_;
  std::vector<KeptTicks> kept_;
};

/// Walks all paths, with the frames of each laid out one after another.
class EdgeWalk {
 public:
  EdgeWalk(const NamedPaths& paths, const std::function<int64_t(const StackFrame&)>& number)
      : paths_(paths),
        number_(number),
        ranges_(paths),
        folded_below_(folded_below(paths.tree())),
        unknown_caller_(paths.unknown_caller()) {}

  CallEdges run() {
    find_inlined();
    walk_paths(
        paths_.tree(), [this](uint32_t node) { enter(node); }, [this](uint32_t node) { leave(node); });
    for_each_plane_call(paths_, [this](const PlaneCall& call) { add(call); });
    for (const InlinedCode& code : paths_.inlined_code()) add(code);
    for (auto& [function, ticks] : inlined_) ticks.add_folded(ranges_.all_folded());
    if (paths_.without_path().any()) add_without_path();
    if (ranges_.has_plane()) add_own();
    CallEdges result;
    for (uint32_t i = 0; i < functions_.size(); ++i) result.on_stack[functions_[i]] = total_of(i);
    if (ranges_.has_plane()) add_unknown_callers(result.on_stack);
    for (uint32_t i = 0; i < edges_.size(); ++i) {
      const TickRange range = range_of(i, result.on_stack);
      if (range.low == 0 && !edges_[i].is_kept && !may_have_ticks(i, range)) continue;
      if (edges_[i].edge.is_sum && edges_[i].lines < 2) continue;
      result.edges.push_back(std::move(edges_[i].edge));
      result.edges.back().ticks = range.low;
      result.edges.back().high = range.high;
    }
    std::stable_sort(result.edges.begin(), result.edges.end(), [](const CallEdge& a, const CallEdge& b) {
      if (a.ticks != b.ticks || a.high != b.high)
        return std::tie(a.ticks, a.high) > std::tie(b.ticks, b.high);
      return a.is_sum && !b.is_sum;
    });
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
  struct Edge {
    CallEdge edge;
    uint32_t sum = kNone;  ///< the edge that is the sum of the pair's lines
    uint32_t lines = 0;    ///< of a sum
    bool is_kept = false;  ///< an edge even without ticks that are known
  };
  static constexpr uint32_t kNone = UINT32_MAX;
  using Key = std::tuple<int64_t, std::string, uint32_t, int64_t, bool>;

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
    if (first) frames_.push_back(&frame);
    return {&frame, function, entry->second};
  }

  /// The number of an edge.
  uint32_t edge_of(const CallEdge& edge) {
    const auto [known, fresh] =
        known_.try_emplace(Key{edge.caller, edge.file, edge.line, edge.callee, edge.is_sum},
                           static_cast<uint32_t>(edges_.size()));
    if (!fresh) return known->second;
    const uint32_t number = known->second;
    edges_.push_back({edge});
    if (edge.is_sum || edge.caller < 0 || edge.callee < 0) return number;
    const uint32_t sum = edge_of({.caller = edge.caller, .file = "", .callee = edge.callee, .is_sum = true});
    ++edges_[sum].lines;
    edges_[number].sum = sum;
    return number;
  }

  uint32_t edge_of(const Place* caller, int64_t callee) {
    const bool at_line = caller != nullptr && callee >= 0;
    return edge_of(CallEdge{.caller = caller == nullptr ? CallEdge::kOutermost : caller->function,
                            .file = at_line ? caller->frame->file : "",
                            .line = at_line ? caller->frame->line : 0,
                            .callee = callee});
  }

  void add(const Place* caller, int64_t callee, const KeptTicks& ticks, Visit* visit) {
    const uint32_t edge = edge_of(caller, callee);
    for (const uint32_t each : {edge, edges_[edge].sum}) {
      if (each == kNone) continue;
      edge_ticks_.enter(each, ticks);
      visit->edges.push_back(each);
    }
  }

  void add(const PlaneCall& call) {
    const Place& caller = places(call.frames)[call.caller];
    if (caller.frame->inlined) function_ticks_.add_plane(caller.dense, call);
    if (call.callee == nullptr) return;
    const bool is_inlined = call.caller + 1 < call.frames.size();
    const Place callee = is_inlined ? places(call.frames)[call.caller + 1] : place_of(*call.callee);
    const uint32_t edge = edge_of(&caller, callee.function);
    for (const uint32_t each : {edge, edges_[edge].sum})
      if (each != kNone) edge_ticks_.add_plane(each, call);
  }

  /// Which functions have ticks where another function is the end of the path.
  void find_inlined() {
    for (const InlinedCode& code : paths_.inlined_code()) {
      const std::vector<Place>& chain = places(code.frames);
      for (const Place& place : chain) inlined_in_[chain.front().dense].insert(place.dense);
    }
  }

  /// As CallerWalk has it for each function. But a symbol that shares an entry of the unwind table is called
  /// from the entry: else its ticks would be among those that a caller of the entry calls twice.
  void add(const InlinedCode& code) {
    const std::vector<Place>& chain = places(code.frames);
    const TickRange ticks{code.low, code.high};
    std::set<uint32_t> functions, edges;
    for (size_t i = 0; i < chain.size(); ++i) {
      functions.insert(chain[i].dense);
      const uint32_t edge =
          edge_of(&chain[i], i + 1 < chain.size() ? chain[i + 1].function : CallEdge::kItself);
      edges.insert({edge, edges_[edge].sum});
    }
    for (const uint32_t edge : edges)
      if (edge != kNone) edge_inlined_[edge] += ticks;
    for (const uint32_t function : functions) {
      if (function == chain.front().dense)
        inlined_[function].add_within(code.frames.front(), ticks);
      else
        inlined_[function].add_inlined(code.frames.front(), ticks);
    }
  }

  /// Own ticks that no path has.
  void add_without_path() {
    without_path_.resize(functions_.size());
    const Place unknown = place_of(unknown_caller_);
    for (uint32_t i = 0; i < without_path_.size(); ++i) {
      const Place function{nullptr, functions_[i], i};
      const uint32_t itself = edge_of(&function, CallEdge::kItself);
      if (!known_ticks_[i].self_is_all) continue;
      const uint64_t ticks = paths_.without_path().of(known_ticks_[i].self, edge_ticks_.kept(itself).ticks);
      without_path_[i] = ticks;
      if (ticks == 0) continue;
      const TickRange more{ticks, ticks};
      inlined_[unknown.dense].add_within(unknown_caller_, more);  // not its own as well
      edge_inlined_[edge_of({.caller = unknown.function, .file = "", .callee = functions_[i]})] += more;
    }
  }
  [[nodiscard]] KeptTicks with_unknown_paths(uint32_t function, KeptTicks kept) const {
    if (function < without_path_.size()) kept.ticks += without_path_[function];
    return kept;
  }

  /// Own code that no kept path ends in.
  void add_own() {
    for (uint32_t i = 0; i < functions_.size(); ++i) {
      if (!known_ticks_[i].complete || known_ticks_[i].self == 0) continue;
      const Place function{nullptr, functions_[i], i};
      edge_of(&function, CallEdge::kItself);
    }
  }

  /// As CallerWalk::add_unknown_callers().
  void add_unknown_callers(const std::map<int64_t, TickRange>& on_stack) {
    const auto is_hidden = [](const auto& end) { return end.second != 0; };
    if (std::none_of(hidden_.begin(), hidden_.end(), is_hidden)) return;
    const CallCycles cycles(paths_, ranges_.has_all_calls());
    std::map<int64_t, uint64_t> of_callers;
    for (uint32_t i = 0; i < edges_.size(); ++i) {
      const CallEdge& edge = edges_[i].edge;
      if (edge.is_sum || edge.callee < 0) continue;
      if (!hidden_.contains(edge.caller) && cycles.may_return(frame_of(edge.caller), frame_of(edge.callee)))
        continue;
      of_callers[edge.callee] += std::max(edge_ticks_.kept(i).ticks, edge_ticks_.plane(i).least());
      if (const auto more = edge_inlined_.find(i); more != edge_inlined_.end())
        of_callers[edge.callee] += more->second.low;
    }
    for (const int64_t function : functions_) {
      if (hidden_.contains(function) || of_callers[function] >= on_stack.at(function).low) continue;
      for (const auto& [end, ticks] : hidden_)
        if (ticks != 0) edges_[edge_of({.caller = end, .file = "", .callee = function})].is_kept = true;
    }
  }

  /// The total of function `i` of functions_.
  [[nodiscard]] TickRange total_of(uint32_t i) const {
    const KeptTicks kept = function_ticks_.kept(i);
    if (!hidden_.contains(functions_[i])) {
      const TickRange range =
          ranges_.function(known_ticks_[i], with_unknown_paths(i, kept), function_ticks_.plane(i));
      const auto inlined = inlined_.find(i);
      return inlined == inlined_.end() ? range : inlined->second.total(range);
    }
    const auto outermost = hidden_.find(CallEdge::kOutermost);
    return ranges_.cut(kept, outermost == hidden_.end() ? 0 : outermost->second);
  }

  [[nodiscard]] TickRange range_of(uint32_t number, const std::map<int64_t, TickRange>& on_stack) const {
    const CallEdge& edge = edges_[number].edge;
    const KeptTicks kept = edge_ticks_.kept(number);
    if (edge.callee == CallEdge::kFolded) return {kept.ticks, kept.ticks};
    if (edge.callee == CallEdge::kItself) {
      const uint32_t function = dense_.at(edge.caller);
      return own_of(number, function,
                    ranges_.own(known_ticks_[function], with_unknown_paths(function, kept)));
    }
    if (hidden_.contains(edge.callee)) return on_stack.at(edge.callee);
    if (const auto end = hidden_.find(edge.caller); end != hidden_.end())
      return with_inlined(number, CallRanges::outermost(kept, end->second, on_stack.at(edge.callee).high));
    return with_inlined(number,
                        ranges_.call(kept, edge_ticks_.plane(number), known_of(edge.callee).complete));
  }

  /// In a choice of paths: no tick is certain.
  [[nodiscard]] bool may_have_ticks(uint32_t number, const TickRange& range) const {
    const auto inlined = edge_inlined_.find(number);
    const bool is_inlined = inlined != edge_inlined_.end() && inlined->second.high != 0;
    return range.high != 0 && (is_inlined || edge_ticks_.kept(number).ticks != 0);
  }
  /// An edge from a function to its own code.
  [[nodiscard]] TickRange own_of(uint32_t number, uint32_t function, const TickRange& range) const {
    const auto inlined = inlined_.find(function);
    if (inlined == inlined_.end()) return range;
    TickRange own = inlined->second.without_inlined(range);
    if (const auto more = edge_inlined_.find(number); more != edge_inlined_.end()) own += more->second;
    return own;
  }
  /// Some of these ticks may be of the kept paths, too: under recursion of both sides.
  [[nodiscard]] TickRange with_inlined(uint32_t number, TickRange range) const {
    const auto more = edge_inlined_.find(number);
    if (more == edge_inlined_.end()) return range;
    const TickRange kept = range;
    range.low = std::max(kept.low, more->second.low);
    range.high += more->second.high;
    for (const int64_t side : {edges_[number].edge.caller, edges_[number].edge.callee}) {
      const auto dense = dense_.find(side);
      const auto inlined = dense == dense_.end() ? inlined_.end() : inlined_.find(dense->second);
      if (inlined != inlined_.end())
        range.low = std::max(range.low, inlined->second.with(kept, more->second).low);
    }
    return range;
  }

  [[nodiscard]] const KnownTicks& known_of(int64_t function) const {
    return known_ticks_[dense_.at(function)];
  }

  [[nodiscard]] const StackFrame& frame_of(int64_t function) const { return *frames_[dense_.at(function)]; }

  void enter(uint32_t node) {
    Visit visit{.frames = stack_.size(), .edges = {}};
    const KeptTicks below{paths_.below()[node], folded_below_[node]};
    for (const Place& place : places(paths_.frames(node))) {
      add(stack_.empty() ? nullptr : stack_.back(), place.function, below, &visit);
      function_ticks_.enter(place.dense, below);
      stack_.push_back(&place);
    }
    add_end(paths_.tree()[node], &visit);
    visits_.push_back(std::move(visit));
  }

  /// Notes the functions on this path that also have ticks in the code of the one that ran.
  void add_recursion(const PathTreeNode& node) {
    const uint32_t ran = stack_.back()->dense;
    const auto inlined = inlined_in_.find(ran);
    if (node.self == 0 || inlined == inlined_in_.end()) return;
    for (const uint32_t function : inlined->second)
      if (function_ticks_.depth(function) > (function == ran ? 1 : 0))
        inlined_[function].add_end(*stack_.back()->frame, node.self);
  }

  void add_end(const PathTreeNode& node, Visit* visit) {
    if (stack_.empty() || node.kind == PathNodeKind::kCut)
      hidden_[stack_.empty() ? CallEdge::kOutermost : stack_.back()->function] += node.folded;
    if (stack_.empty()) return;
    add_recursion(node);
    if (node.self != 0) add(stack_.back(), CallEdge::kItself, {node.self, 0}, visit);
    const bool is_known = ranges_.has_plane() && known_ticks_[stack_.back()->dense].complete;
    if (node.folded != 0 && !is_known) add(stack_.back(), CallEdge::kFolded, {node.folded, 0}, visit);
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
  CallRanges ranges_;
  std::vector<uint64_t> folded_below_;
  std::unordered_map<const std::vector<StackFrame>*, std::vector<Place>> places_;
  std::unordered_map<int64_t, uint32_t> dense_;  ///< function: its index in functions_
  std::vector<int64_t> functions_;
  std::vector<KnownTicks> known_ticks_;    ///< of each of these
  std::vector<const StackFrame*> frames_;  ///< one of each
  std::map<Key, uint32_t> known_;
  std::vector<Edge> edges_;
  OncePerPath edge_ticks_, function_ticks_;
  std::map<uint32_t, std::set<uint32_t>> inlined_in_;  ///< by the function that ran: those with ticks in it
  std::map<uint32_t, InlinedTicks> inlined_;           ///< by function
  std::map<uint32_t, TickRange> edge_inlined_;         ///< by edge
  std::map<int64_t, uint64_t>
      hidden_;  ///< folded ticks below no function: of a caller that is nobody, or a cut
  StackFrame unknown_caller_;
  std::vector<uint64_t> without_path_;  ///< of each function, if there are any
  std::vector<const Place*> stack_;
  std::vector<Visit> visits_;
};

}  // namespace

CallEdges call_edges(const NamedPaths& paths, const std::function<int64_t(const StackFrame&)>& number) {
  return EdgeWalk(paths, number).run();
}

bool may_be_nothing(const CallEdge& edge, const CallEdges& calls, double samples_per_tick) {
  const int64_t function = edge.callee == CallEdge::kItself ? edge.caller : edge.callee;
  if (edge.ticks != 0 || function < 0) return false;
  const auto whole = static_cast<double>(std::max<uint64_t>(1, calls.on_stack.at(function).low));
  const double most = std::min(1.0, static_cast<double>(edge.high) / whole);
  return !is_wide_range(0, most, whole * samples_per_tick);
}

}  // namespace pctally
