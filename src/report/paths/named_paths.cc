#include "report/paths/named_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "profile/path_cut.h"
#include "report/account/path_account.h"
#include "report/path_choice.h"
#include "report/rollup.h"

namespace pctally {
namespace {

/// A node that is no leaf is a call, and so is one below which paths were folded; a leaf is the first byte of
/// the function that ran.
std::vector<bool> calls_in(const PathTree& tree) {
  std::vector<bool> is_call(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    if (tree[i].folded != 0) is_call[i] = true;
    if (tree[i].parent != PathTreeNode::kNoParent) is_call[tree[i].parent] = true;
  }
  return is_call;
}

/// In the call plane: those that are called from there are its parents.
std::vector<bool> calls_in_plane(const PathTree& plane) {
  std::vector<bool> is_call(plane.size());
  for (size_t i = 0; i < plane.size(); ++i)
    is_call[i] = plane[i].parent != PathTreeNode::kNoParent &&
                 plane[plane[i].parent].parent != PathTreeNode::kNoParent;
  return is_call;
}

const PathTree& plane_of(const CallPaths& paths) {
  static const PathTree kNone;
  return is_folded(paths.context) ? paths.plane : kNone;
}

/// A function that ran.
StackFrame frame_of(uint32_t executable, const NamedRange& range, const ObjectNames& names) {
  StackFrame frame;
  frame.function = range.function;
  frame.linkage = range.linkage;
  frame.object = names.shown(executable);
  frame.address = table_address(names, executable, range);
  return frame;
}

/// The short names of those that tables have, where they are not `shown`.
std::vector<std::string> table_names(const std::vector<FunctionName>& functions,
                                     const std::vector<bool>& in_tables,
                                     const std::vector<std::string>& shown) {
  std::vector<std::string> names(functions.size());
  std::vector<FunctionName> rows;
  for (size_t i = 0; i < functions.size(); ++i)
    if (in_tables[i]) rows.push_back(functions[i]);
  if (rows.size() == functions.size()) return names;
  std::vector<std::string> short_of_rows = short_names(rows);
  auto next = short_of_rows.begin();
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!in_tables[i]) continue;
    if (*next != shown[i]) names[i] = std::move(*next);
    ++next;
  }
  return names;
}

/// By executable, and whether they are calls.
void add_positions_of(const PathTree& tree, const std::vector<bool>& is_call,
                      std::map<std::pair<uint32_t, bool>, std::vector<uint64_t>>* positions) {
  for (size_t i = 0; i < tree.size(); ++i)
    if (tree[i].kind == PathNodeKind::kCode)
      (*positions)[{tree[i].executable, is_call[i]}].push_back(tree[i].position);
}

}  // namespace

NamedPaths::NamedPaths(const Profile& profile, ObjectNames& names, Detail detail)
    : profile_(profile),
      tree_(profile.paths.context),
      plane_(plane_of(profile.paths)),
      without_path_(profile.paths) {
  add_places(profile, names, detail != Detail::kFunctions);
  if (detail == Detail::kInnermostParts && !profile.paths.one_frame)
    split_leaves(profile, names, InnermostTicks::kCertain);
  if (detail == Detail::kSharedParts && !profile.paths.one_frame)
    split_leaves(profile, names, InnermostTicks::kAll);
  // Where other profilers have kept the places, the paths themselves say what was inlined there.
  if (detail == Detail::kInlinedCode && !profile.paths.one_frame)
    std::ranges::move(find_inlined_code(profile, names), std::back_inserter(inlined_code_));
  below_ = ticks_below(tree_);
  distinguish_namesakes(names);
  name_functions();
  if (!plane_.empty() || without_path_.any()) add_known(profile, names);
}

StackFrame NamedPaths::unknown_caller() const {
  StackFrame frame;
  frame.function =
      unread_ticks(profile_.paths.context) != 0 ? cut_name(profile_.paths, PathEnd::kInterrupted) : kNoPath;
  return frame;
}

template <class Visit>
void NamedPaths::for_each_frame(Visit&& visit) {
  for (std::vector<StackFrame>& frames : places_)
    for (StackFrame& frame : frames) visit(frame);
  for (InlinedCode& code : inlined_code_)
    for (StackFrame& frame : code.frames) visit(frame);
}

/// A function whose name is its own may be inlined, too, and is the same function there. Where that is not
/// certain, the lines say it of functions that ran.
void NamedPaths::distinguish_namesakes(ObjectNames& names) {
  for_each_frame([this](const StackFrame& frame) { namesakes_.add(frame); });
  for (const auto& [place, executable, position] : without_lines_)
    for (StackFrame& frame : places_[place]) {
      if (!namesakes_.lacks_declaration(frame)) continue;
      const std::vector<Frame> source = names.symbolizer(executable).frames({&position, 1}).front();
      if (!source.empty()) frame.declared = declaration_of(source.back());
      namesakes_.add(frame);
    }
  for_each_frame([this](StackFrame& frame) { namesakes_.keep_what_distinguishes(&frame); });
}

void NamedPaths::name_functions() {
  std::map<StackFunction, size_t> numbers;
  std::vector<FunctionName> functions;
  std::vector<bool> in_tables;
  const auto number = [&](const StackFrame& frame) {
    const auto [entry, fresh] = numbers.try_emplace(function_of(frame), functions.size());
    if (fresh)
      functions.push_back({frame.function, frame.linkage, frame.object, frame.address, frame.declared});
    in_tables.resize(functions.size());
    if (!frame.inlined) in_tables[entry->second] = true;
    return entry->second;
  };
  for_each_frame(number);
  const std::vector<std::string> shown = short_names(functions);
  const std::vector<bool> several = are_in_several_objects(functions, shown);
  const std::vector<std::string> in_table = table_names(functions, in_tables, shown);
  for_each_frame([&](StackFrame& frame) {
    const size_t own = number(frame);
    frame.short_name = shown[own];
    frame.in_several_objects = several[own];
    frame.table_name = in_table[own];
  });
}

void NamedPaths::add_places(const Profile& profile, ObjectNames& names, bool lines) {
  const std::vector<bool> is_call = calls_in(tree_), is_plane_call = calls_in_plane(plane_);
  Positions positions;
  add_positions_of(tree_, is_call, &positions);
  add_positions_of(plane_, is_plane_call, &positions);
  places_.emplace_back();
  const Places known = add_positions(std::move(positions), lines, profile.paths.one_frame, names);
  place_ = places_of(tree_, is_call, known);
  plane_place_ = places_of(plane_, is_plane_call, known);
  place_innermost(profile, names);
}

void NamedPaths::place_innermost(const Profile& profile, ObjectNames& names) {
  std::map<CodePlace, uint64_t> shared;
  for (size_t i = 0; i < tree_.size(); ++i) {
    const InnermostNames::Name* name = names.innermost().find(tree_[i]);
    if (name == nullptr) continue;
    place_[i] = add_place(frame_of(tree_[i].executable, name->range, names));
    without_lines_.push_back({place_[i], tree_[i].executable, name->range.start});
    if (name->several) shared[{tree_[i].executable, tree_[i].position}] += tree_[i].self;
  }
  for (const auto& [start, ticks] : shared)
    add_symbols(profile, start.first, *names.innermost().find(start), ticks, names);
}

/// `ticks`: of the paths that end in them.
void NamedPaths::add_symbols(const Profile& profile, uint32_t executable, const InnermostNames::Name& name,
                             uint64_t ticks, ObjectNames& names) {
  uint64_t all = 0;
  for (const InnermostNames::Symbol& symbol : name.symbols) all += symbol.ticks;
  for (const InnermostNames::Symbol& symbol : name.symbols) {
    InlinedCode code;
    for (const NamedRange* range : {&name.range, &symbol.range})
      code.frames.push_back(frame_of(executable, *range, names));
    code.is_symbol = true;
    code.ticks = symbol.ticks;
    code.others = all - symbol.ticks;
    const TickRange own = code.among(profile.whole == nullptr ? all : ticks);
    code.low = own.low;
    code.high = own.high;
    inlined_code_.push_back(std::move(code));
  }
}

void NamedPaths::split_leaves(const Profile& profile, ObjectNames& names, InnermostTicks which) {
  std::vector<std::pair<uint32_t, bool>> leaves;  // of the siblings, and whether these are estimated
  visit_innermost_parts(profile, names, which, [&](const InnermostPart& part) {
    const auto place = static_cast<uint32_t>(places_.size());
    places_.emplace_back(part.frames.begin(), part.frames.end());
    for (const InnermostPart::Path& path : part.paths) {
      PathTreeNode sibling = tree_[path.node];
      tree_[path.node].self -= path.ticks;
      sibling.position = part.position;
      sibling.self = path.ticks;
      sibling.folded = 0;
      tree_.push_back(sibling);
      place_.push_back(place);
      leaves.emplace_back(path.node, part.estimated);
    }
  });
  inexact_.resize(tree_.size() - leaves.size());
  rests_.resize(tree_.size());
  for (const auto& [leaf, estimated] : leaves) {
    if (which == InnermostTicks::kAll && estimated) rests_[leaf] = true;
    inexact_.push_back(which == InnermostTicks::kAll ? estimated : tree_[leaf].self != 0);
  }
}

NamedPaths::Places NamedPaths::add_positions(Positions positions, bool lines, bool one_frame,
                                             ObjectNames& names) {
  Places known;
  for (auto& [key, list] : positions) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    const auto first = static_cast<uint32_t>(places_.size());
    add_executable(key.first, list, lines && (key.second || one_frame), names);
    for (size_t i = 0; i < list.size(); ++i)
      known[{key.first, list[i], key.second}] = first + static_cast<uint32_t>(i);
  }
  return known;
}

std::vector<uint32_t> NamedPaths::places_of(const PathTree& tree, const std::vector<bool>& is_call,
                                            const Places& known) {
  std::vector<uint32_t> places(tree.size());
  for (size_t i = 0; i < tree.size(); ++i) {
    const PathTreeNode& node = tree[i];
    if (node.kind == PathNodeKind::kCode) places[i] = known.at({node.executable, node.position, is_call[i]});
    if (node.kind != PathNodeKind::kCut && node.kind != PathNodeKind::kUnknown) continue;
    StackFrame frame;
    frame.function = node.kind == PathNodeKind::kCut
                         ? cut_name(profile_.paths, static_cast<PathEnd>(node.position))
                         : "[unknown code]";
    places[i] = add_place(std::move(frame));
  }
  return places;
}

uint32_t NamedPaths::add_place(StackFrame frame) {
  places_.push_back({std::move(frame)});
  return static_cast<uint32_t>(places_.size() - 1);
}

KnownTicks& NamedPaths::known_of(const std::string& object, const std::string& full, uint64_t address) {
  return known_[function_of(function(object, full, address))];
}

/// As the table has them.
void NamedPaths::add_known(const Profile& profile, ObjectNames& names) {
  const PathFunctions functions = path_functions(profile, names);
  // In a choice of scopes only the paths say where ticks are.
  const bool from_paths =
      std::any_of(profile.executables.begin(), profile.executables.end(),
                  [](const Executable& executable) { return executable.path == kInnerNotKept; });
  for (const Row& row : rows_by_function(profile, names, &functions)) {
    KnownTicks& known = known_of(row.object, row.function, row.address);
    known.self += row.ticks;
    known.low = std::max(known.low, row.total.low);
    known.high += row.total.high;
    known.complete = true;
    known.self_is_all = !from_paths;
  }
  for (const PathFunction& function : functions.functions) {
    if (!function.in_shared_entry && !function.several && !function.shared) continue;
    KnownTicks& known = known_of(function.key.object, function.key.function, function.address);
    known.complete = false;
    if (function.several || function.shared) known = {};
  }
}

KnownTicks NamedPaths::known(const StackFrame& function) const {
  const auto found = known_.find(function_of(function));
  // What has no row is inlined, or, without an object, no function.
  return found == known_.end() ? KnownTicks{.complete = !function.object.empty()} : found->second;
}

void NamedPaths::add_executable(uint32_t executable, const std::vector<uint64_t>& positions, bool lines,
                                ObjectNames& names) {
  Symbolizer& symbolizer = names.symbolizer(executable);
  std::vector<NamedRange> ranges = symbolizer.name(positions);
  std::vector<std::vector<Frame>> source;
  if (lines) source = symbolizer.frames(positions);
  source.resize(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!lines) without_lines_.push_back({static_cast<uint32_t>(places_.size()), executable, positions[i]});
    places_.push_back(stack_frames(executable, std::move(ranges[i]), std::move(source[i]), names));
  }
}

}  // namespace pctally
