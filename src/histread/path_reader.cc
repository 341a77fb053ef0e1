#include "histread/path_reader.h"

#include <string.h>

#include <algorithm>

#include "base/text_field.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {
namespace {

PathScopeKind kind_of(ScopeKind kind) {
  if (kind == ScopeKind::kThread) return PathScopeKind::kThread;
  return kind == ScopeKind::kGroup ? PathScopeKind::kGroup : PathScopeKind::kProgram;
}

std::string thread_of(const ScopeRecord& record) {
  char name[kThreadNameBytes];
  memcpy(name, reinterpret_cast<const char*>(&record) + offsetof(ScopeRecord, device), sizeof name);
  return field_text(name);
}

/// Nodes above one another: more than a path of kMostFrames and the calls in the kernel needs. A forged
/// tree that is deeper would end the stack of whoever walks it.
constexpr uint32_t kMostLevels = 2048;

/// A node of a tree, each once.
struct NumberedNode {
  uint32_t number;
  PathNode node;
};
using Nodes = std::vector<NumberedNode>;

class PathReader {
 public:
  PathReader(PathSource source, PathDamage* damage)
      : source_(std::move(source)), damage_(*damage), in_units_(source_.units) {}

  CallPaths read(const FileHeader& header);

 private:
  void read_scopes(uint32_t first, CallPaths* paths);
  Nodes read_nodes(const PathTreeHead& head);
  bool read_chains(const PathDirectory& directory, std::vector<bool>* seen, Nodes* nodes);
  bool read_node(uint32_t number, PathNode* node);
  PathTree ordered(const Nodes& nodes, bool ends);
  PathTreeNode value_of(const PathNode& node, uint32_t parent);
  static void undo_pruning(const PathRecord& record, Nodes* nodes);

  PathSource source_;
  PathDamage& damage_;
  std::vector<bool> in_units_;  ///< units claimed for nodes
  std::unordered_map<uint32_t, uint32_t> scopes_;
};

void PathReader::read_scopes(uint32_t first, CallPaths* paths) {
  ScopeRecord record;
  for (uint32_t unit = first; unit != 0 && paths->scopes.size() < kMostScopesOfFile; unit = record.next) {
    if (!source_.claim(unit, 1) || !source_.bytes.read(unit_offset(unit), &record)) return;
    PathScope scope;
    scope.name = source_.text(record.name);
    scope.kind = kind_of(record.kind);
    if (scope.kind == PathScopeKind::kThread) scope.thread = thread_of(record);
    if (record.build_id_bytes <= sizeof record.build_id)
      scope.build_id.assign(record.build_id, record.build_id + record.build_id_bytes);
    scopes_[unit] = static_cast<uint32_t>(paths->scopes.size());
    paths->scopes.push_back(std::move(scope));
  }
}

bool PathReader::read_node(uint32_t number, PathNode* node) {
  const uint32_t unit = number / kNodesPerUnit;
  if (unit >= source_.units || (!in_units_[unit] && !source_.claim(unit, 1))) return false;
  in_units_[unit] = true;
  if (!source_.bytes.read(unit_offset(unit) + number % kNodesPerUnit * sizeof *node, node)) return false;
  for (uint64_t* count : {&node->self, &node->folded}) {
    if (*count <= kLargestCount) continue;
    *count = 0;
    ++damage_.counts;
  }
  return true;
}

/// The nodes of one directory; false if there is no such directory.
bool PathReader::read_chains(const PathDirectory& directory, std::vector<bool>* seen, Nodes* nodes) {
  const uint64_t slots = uint64_t{1} << std::min(directory.slots_log2, kMostSlotsLog2);
  if (directory.slots_log2 > kMostSlotsLog2 || !source_.claim(directory.directory, slots * 4 / kUnitBytes))
    return false;
  for (uint64_t slot = 0; slot < slots; ++slot) {
    uint32_t number = 0;
    if (!source_.bytes.read(unit_offset(directory.directory) + slot * sizeof number, &number)) return false;
    for (PathNode node; number != 0; number = node.next) {
      if (number >= seen->size() || (*seen)[number] || !read_node(number, &node)) {
        ++damage_.nodes;
        break;
      }
      (*seen)[number] = true;
      nodes->push_back({number, node});
    }
  }
  return true;
}

/// Ends on any damage: each directory is claimed, so that none is read twice.
Nodes PathReader::read_nodes(const PathTreeHead& head) {
  Nodes nodes;
  if (head.directory == 0) return nodes;
  std::vector<bool> seen(uint64_t{source_.units} * kNodesPerUnit);
  nodes.reserve(std::min<uint64_t>(head.nodes, seen.size()));
  PathDirectory directory{head.directory, head.slots_log2, head.more};
  bool readable = read_chains(directory, &seen, &nodes);
  while (readable && directory.more != 0)
    readable = source_.claim(directory.more, 1) &&
               source_.bytes.read(unit_offset(directory.more), &directory) &&
               read_chains(directory, &seen, &nodes);
  if (!readable) ++damage_.nodes;
  return nodes;
}

PathTreeNode PathReader::value_of(const PathNode& node, uint32_t parent) {
  PathTreeNode value{.parent = parent, .self = node.self, .folded = node.folded};
  const uint32_t segment = PathPlace::segment(node.place);
  if (segment != 0) {
    const auto found = source_.segments.find(segment);
    if (found == source_.segments.end() || PathPlace::index(node.place) >= found->second.bytes) return value;
    value.kind = PathNodeKind::kCode;
    value.executable = found->second.object;
    value.position = found->second.start + PathPlace::index(node.place);
    return value;
  }
  const auto mark = node.place >> PathPlace::kMarkShift;
  const auto number = static_cast<uint32_t>(node.place);
  value.position = number;
  if (mark == PathPlace::kCut && number < kPathEnds) value.kind = PathNodeKind::kCut;
  if (mark != PathPlace::kScope) return value;
  const auto scope = scopes_.find(number);
  value.kind = PathNodeKind::kScope;
  value.position = scope == scopes_.end() ? UINT32_MAX : scope->second;
  return value;
}

/// Parents before their children. Nodes that are not reached from a root are left out. `ends`: ends of paths
/// become nodes of their own.
PathTree PathReader::ordered(const Nodes& nodes, bool ends) {
  std::vector<const NumberedNode*> children;
  children.reserve(nodes.size());
  for (const NumberedNode& numbered : nodes) children.push_back(&numbered);
  std::sort(children.begin(), children.end(), [](const NumberedNode* a, const NumberedNode* b) {
    return a->node.parent != b->node.parent ? a->node.parent < b->node.parent : a->number > b->number;
  });
  PathTree tree;
  tree.reserve(nodes.size());
  struct Pending {
    const NumberedNode* child;
    uint32_t parent, level;  // parent: its index
  };
  std::vector<Pending> pending;
  const auto add_children = [&](uint32_t number, uint32_t index, uint32_t level) {
    auto child = std::lower_bound(
        children.begin(), children.end(), number,
        [](const NumberedNode* numbered, uint32_t parent) { return numbered->node.parent < parent; });
    for (; level < kMostLevels && child != children.end() && (*child)->node.parent == number; ++child)
      pending.push_back({*child, index, level});
  };
  size_t reached = 0;
  for (add_children(0, PathTreeNode::kNoParent, 0); !pending.empty(); ++reached) {
    const auto [child, parent, level] = pending.back();
    pending.pop_back();
    const size_t before = pending.size();
    PathTreeNode value = value_of(child->node, parent);
    const bool is_end = ends && value.kind == PathNodeKind::kCode && value.self != 0;
    add_children(child->number, static_cast<uint32_t>(tree.size() + (is_end ? 1 : 0)), level + 1);
    const bool goes_on = pending.size() != before || value.folded != 0;
    if (is_end) {
      tree.push_back(value);
      tree.back().folded = 0;
      tree.back().is_end = true;
      value.self = 0;
    }
    if (!is_end || goes_on) tree.push_back(value);
  }
  damage_.nodes += nodes.size() - reached;
  return tree;
}

/// The recorder adds a node's counts to its parent's, then clears the node's `self`, then its `folded`. How
/// many ticks have a path does not tell how far it came: the tick for which it made room has none yet.
void PathReader::undo_pruning(const PathRecord& record, Nodes* nodes) {
  const auto find = [nodes](uint32_t number) {
    return std::ranges::find(*nodes, number, &NumberedNode::number);
  };
  const auto node = record.pruning == 0 ? nodes->end() : find(record.pruning);
  if (node == nodes->end()) return;
  const auto parent = find(node->node.parent);
  if (parent != nodes->end() && parent->node.folded == record.pruned_to)
    node->node.self = node->node.folded = 0;
}

CallPaths PathReader::read(const FileHeader& header) {
  CallPaths paths;
  PathRecord record;
  if (header.paths == 0 || header.version != kPathsLayoutVersion) return paths;
  if (!source_.claim(header.paths, sizeof record / kUnitBytes) ||
      !source_.bytes.read(unit_offset(header.paths), &record))
    return paths;
  paths.one_frame = record.one_frame != 0;
  paths.recorded = !paths.one_frame;
  paths.first_come = record.first_come != 0;
  paths.no_room = std::min(record.no_room, kLargestCount);
  paths.pruned = record.pruned;
  paths.stack_bytes = record.stack_bytes;
  read_scopes(header.scopes, &paths);
  Nodes context = read_nodes(record.context);
  undo_pruning(record, &context);
  paths.context = ordered(context, true);
  paths.plane = ordered(read_nodes(record.plane), false);
  return paths;
}

}  // namespace

CallPaths read_paths(PathSource source, const FileHeader& header, PathDamage* damage) {
  return PathReader(std::move(source), damage).read(header);
}

uint64_t sum_of_paths(const CallPaths& paths) {
  uint64_t sum = paths.no_room;
  for (const PathTreeNode& node : paths.context) sum += node.self + node.folded;
  return sum;
}

}  // namespace pctally
