#include "report/paths/innermost_parts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "report/names/innermost.h"
#include "report/paths/part_shares.h"

namespace pctally {
namespace {

/// Positions named at a time: the names of a large object take milliseconds, however few are asked for, and
/// the names of all would take many times the memory of the positions.
constexpr size_t kNamedAtATime = 1 << 15;

/// The ticks in what one entry of the unwind table covers: a tree of the functions that are inlined there,
/// whose leaves are lines.
class TicksInFunction {
 public:
  TicksInFunction() { nodes_.emplace_back(); }

  /// REQUIRES: in the order of the places, before any visit.
  void add(const WeightedPosition& place, std::vector<StackFrame> frames) {
    StackFrame& last = frames.back();
    const std::pair<std::string, uint32_t> line(std::move(last.file), std::exchange(last.line, 0));
    last.file.clear();
    uint32_t at = 0;
    count(at, place);
    for (size_t i = 0; i < frames.size(); ++i) {
      const StackFrame& call = frames[i == 0 ? 0 : i - 1];
      at = child({at, frames[i].function, frames[i].address, i == 0 ? "" : call.file, i == 0 ? 0 : call.line},
                 std::span(frames).first(i + 1));
      if (i + 1 < frames.size()) nodes_[at].frames.back().file.clear(), nodes_[at].frames.back().line = 0;
      count(at, place);
    }
    if (line.second == 0) return;
    at = child({at, {}, 0, line.first, line.second}, frames);
    nodes_[at].frames.back().file = line.first;
    nodes_[at].frames.back().line = line.second;
    count(at, place);
  }

  /// `paths`: most ticks first.
  void visit(std::span<const InnermostPart::Path> paths, InnermostTicks which,
             const std::function<void(const InnermostPart&)>& visit) const {
    if (nodes_[0].children.size() != 1) return;  // InnermostNames has the names of several symbols
    if (which == InnermostTicks::kAll) return visit_all(paths, visit);
    std::vector<InnermostPart::Path> certain;
    for (const Node& node : std::span(nodes_).subspan(2)) {  // the second is the function itself
      certain.clear();
      for (const InnermostPart::Path& path : paths) {
        if (certain_of(node, path.ticks) == 0) break;  // nor has a path of fewer ticks any
        if (const uint64_t ticks = certain_at(node, path.ticks); ticks != 0)
          certain.push_back({path.node, ticks});
      }
      if (!certain.empty()) visit({node.frames, node.position, certain});
    }
  }

 private:
  struct Node {
    std::vector<StackFrame> frames{};
    uint64_t ticks = 0, position = 0, most = 0;
    std::vector<uint32_t> children{};
  };
  /// The node above, the function, and the file and line of the call to it; or the line.
  using Key = std::tuple<uint32_t, std::string, uint64_t, std::string, uint32_t>;

  uint32_t child(Key key, std::span<const StackFrame> frames) {
    const uint32_t parent = std::get<0>(key);
    const auto [entry, fresh] = numbers_.try_emplace(std::move(key), static_cast<uint32_t>(nodes_.size()));
    if (fresh) {
      nodes_.push_back({.frames = {frames.begin(), frames.end()}});
      nodes_[parent].children.push_back(entry->second);
    }
    return entry->second;
  }

  void count(uint32_t number, const WeightedPosition& place) {
    Node& node = nodes_[number];
    node.ticks += place.ticks;
    if (place.ticks <= node.most) return;
    node.most = place.ticks;
    node.position = place.position;
  }

  void visit_all(std::span<const InnermostPart::Path> paths,
                 const std::function<void(const InnermostPart&)>& visit) const {
    std::vector<uint64_t> ticks_of_parts;
    for (const Node& node : nodes_) {
      ticks_of_parts.push_back(node.ticks);
      for (const uint32_t child : node.children) ticks_of_parts.back() -= nodes_[child].ticks;
    }
    const bool estimated = paths.front().ticks != nodes_[0].ticks && nodes_.back().ticks != nodes_[0].ticks;
    PartShares shares(std::move(ticks_of_parts));
    std::vector<std::vector<InnermostPart::Path>> parts(nodes_.size());
    for (const InnermostPart::Path& path : paths)
      for (const PartShares::Share& share : shares.take(path.ticks))
        parts[share.part].push_back({path.node, share.ticks});
    for (size_t i = 2; i < nodes_.size(); ++i)  // as above
      if (!parts[i].empty()) visit({nodes_[i].frames, nodes_[i].position, parts[i], estimated});
  }

  /// The ticks of a path with so many that all other paths of the function together cannot have.
  [[nodiscard]] uint64_t certain_of(const Node& node, uint64_t ticks) const {
    const uint64_t others = nodes_[0].ticks - std::min(nodes_[0].ticks, ticks);
    return node.ticks - std::min(node.ticks, others);
  }
  /// At the node itself, and not below it.
  [[nodiscard]] uint64_t certain_at(const Node& node, uint64_t ticks) const {
    uint64_t below = 0;
    for (const uint32_t child : node.children) below += certain_of(nodes_[child], ticks);
    return certain_of(node, ticks) - below;
  }

  std::vector<Node> nodes_;  ///< the first holds all
  std::map<Key, uint32_t> numbers_;
};

/// Functions of one executable, whose symbols and lines are looked up together.
class InnermostBatch {
 public:
  InnermostBatch(ObjectNames& names, InnermostTicks which,
                 const std::function<void(const InnermostPart&)>& visit)
      : names_(names), which_(which), visit_(visit) {}

  /// REQUIRES: in the order of the places. `paths`: most ticks first; they outlive the batch.
  void add(uint32_t executable, Positions covered, std::span<const InnermostPart::Path> paths) {
    if (executable != executable_ || positions_.size() >= kNamedAtATime) visit_all();
    executable_ = executable;
    functions_.push_back({covered, paths});
    for (const WeightedPosition& place : covered) positions_.push_back(place.position);
  }

  void visit_all() {
    if (functions_.empty()) return;
    Symbolizer& symbolizer = names_.symbolizer(executable_);
    std::vector<NamedRange> symbols = symbolizer.name(positions_);
    auto function = functions_.begin();
    size_t first = 0;  // of the function's positions
    TicksInFunction ticks;
    const auto end_function = [&] {
      ticks.visit(function->paths, which_, visit_);
      ticks = TicksInFunction();
      first += (function++)->covered.size();
    };
    visit_frames(symbolizer, positions_, [&](size_t i, std::vector<Frame> frames) {
      while (i - first >= function->covered.size()) end_function();
      ticks.add(function->covered[i - first],
                stack_frames(executable_, std::move(symbols[i]), std::move(frames), names_));
    });
    while (function != functions_.end()) end_function();
    functions_.clear();
    positions_.clear();
  }

 private:
  struct Function {
    Positions covered;
    std::span<const InnermostPart::Path> paths;
  };

  ObjectNames& names_;
  InnermostTicks which_;
  const std::function<void(const InnermostPart&)>& visit_;
  uint32_t executable_ = 0;
  std::vector<Function> functions_;
  std::vector<uint64_t> positions_;  ///< of all of them
};

}  // namespace

void visit_innermost_parts(const Profile& profile, ObjectNames& names, InnermostTicks which,
                           const std::function<void(const InnermostPart&)>& visit) {
  const Profile& whole = whole_of(profile);
  const std::map<CodePlace, uint64_t> functions = innermost_functions(whole.paths.context);
  std::map<CodePlace, std::vector<InnermostPart::Path>> ends;
  for (uint32_t i = 0; i < profile.paths.context.size(); ++i) {
    const PathTreeNode& node = profile.paths.context[i];
    if (is_innermost(node)) ends[{node.executable, node.position}].push_back({i, node.self});
  }
  InnermostBatch batch(names, which, visit);
  for (auto& [place, paths] : ends) {
    std::ranges::stable_sort(paths, std::greater(), &InnermostPart::Path::ticks);
    const auto function = functions.find(place);
    if (function == functions.end()) continue;  // what it called is left out
    const auto next = std::next(function);
    const bool is_last = next == functions.end() || next->first.first != place.first;
    const Positions covered =
        positions_between(whole, place, is_last ? CodePlace(place.first + 1, 0) : next->first);
    if (function->second > ticks_of(covered)) continue;  // where not all of them are there nothing follows
    batch.add(place.first, covered, paths);
  }
  batch.visit_all();
}

}  // namespace pctally
