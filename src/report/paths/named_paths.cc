#include "report/paths/named_paths.h"

#include <algorithm>
#include <map>

#include "report/innermost.h"
#include "report/path_account.h"

namespace pctally {
namespace {

/// A node that is no leaf is a call; a leaf is the first byte of the function that ran.
using Place = std::tuple<uint32_t, uint64_t, bool>;  // executable, position, is a call

}  // namespace

std::string shown_name(NameStyle style, const StackFrame& frame) {
  const FunctionName function{frame.function, frame.linkage, {}, 0};
  return shown_name(style, short_names({&function, 1}).front(), frame.function, frame.linkage);
}

NamedPaths::NamedPaths(const Profile& profile, ObjectNames& names, bool lines)
    : tree_(profile.paths.context), below_(ticks_below(tree_)) {
  add_places(profile, names, lines);
}

void NamedPaths::add_places(const Profile& profile, ObjectNames& names, bool lines) {
  std::vector<bool> is_call(tree_.size());
  for (const PathTreeNode& node : tree_)
    if (node.parent != PathTreeNode::kNoParent) is_call[node.parent] = true;
  std::map<std::pair<uint32_t, bool>, std::vector<uint64_t>> positions;
  std::map<Place, uint32_t> known;
  for (size_t i = 0; i < tree_.size(); ++i)
    if (tree_[i].kind == PathNodeKind::kCode)
      positions[{tree_[i].executable, is_call[i]}].push_back(tree_[i].position);
  places_.emplace_back();
  for (auto& [key, list] : positions) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    const auto first = static_cast<uint32_t>(places_.size());
    add_executable(key.first, list, lines && (key.second || profile.paths.one_frame), names);
    for (size_t i = 0; i < list.size(); ++i)
      known[{key.first, list[i], key.second}] = first + static_cast<uint32_t>(i);
  }
  place_.assign(tree_.size(), 0);
  const InnermostNames innermost(profile, names);
  for (size_t i = 0; i < tree_.size(); ++i) {
    if (const InnermostNames::Name* name = innermost.find(tree_[i]); name != nullptr) {
      place_[i] = static_cast<uint32_t>(places_.size());
      StackFrame frame;
      frame.function = name->range.function;
      frame.linkage = name->range.linkage;
      frame.object = names.shown(tree_[i].executable);
      places_.push_back({std::move(frame)});
      continue;
    }
    if (tree_[i].kind == PathNodeKind::kCode)
      place_[i] = known[{tree_[i].executable, tree_[i].position, is_call[i]}];
    if (tree_[i].kind != PathNodeKind::kCut && tree_[i].kind != PathNodeKind::kUnknown) continue;
    place_[i] = static_cast<uint32_t>(places_.size());
    StackFrame frame;
    frame.function = tree_[i].kind == PathNodeKind::kCut ? cut_name(static_cast<PathEnd>(tree_[i].position))
                                                         : "[unknown code]";
    places_.push_back({std::move(frame)});
  }
}

void NamedPaths::add_executable(uint32_t executable, const std::vector<uint64_t>& positions, bool lines,
                                ObjectNames& names) {
  Symbolizer& symbolizer = names.symbolizer(executable);
  std::vector<NamedRange> ranges = symbolizer.name(positions);
  ranges.resize(positions.size());
  std::vector<std::vector<Frame>> source;
  if (lines) source = symbolizer.frames(positions);
  source.resize(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    std::vector<StackFrame> frames;
    if (source[i].empty()) source[i].emplace_back();
    // The symbol names the function: debug information may not know it, or by another name.
    source[i].back().function = std::move(ranges[i].function);
    source[i].back().linkage = std::move(ranges[i].linkage);
    for (size_t k = source[i].size(); k-- > 0;) {
      Frame& frame = source[i][k];
      frames.push_back({std::move(frame.function), std::move(frame.linkage), names.shown(executable),
                        std::move(frame.file), frame.line, k + 1 != source[i].size()});
    }
    places_.push_back(std::move(frames));
  }
}

}  // namespace pctally
