#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "report/names/own_files.h"
#include "report/rollup.h"

namespace pctally {
namespace {

/// Where ticks of a line lie inside it: file and line of each inlined frame, outermost first.
using Inside = std::vector<std::pair<std::string, uint32_t>>;
/// Executable and start of a function without lines: of two that have one name each is a row, as by function.
using Place = std::pair<uint32_t, uint64_t>;
using Key = std::tuple<std::string, std::string, std::string, uint32_t, Inside, Place>;

/// Numbers the rows of lines.
class LineRows {
 public:
  LineRows(const Profile& profile, ObjectNames& names, const LineOptions& options)
      : profile_(profile), names_(names), options_(options) {
    if (options.own) own_.emplace(*options.own);
  }

  /// The symbol of each place.
  std::vector<NamedRange> symbols_of(uint32_t executable, std::span<const uint64_t> positions) {
    return names_.symbolizer(executable).name(positions);
  }

  /// The row of each place. `ranges`: as of symbols_of().
  std::vector<uint32_t> rows_of(uint32_t executable, std::span<const uint64_t> positions,
                                std::span<const NamedRange> ranges) {
    std::vector<uint32_t> found;
    visit_frames(names_.symbolizer(executable), positions, [&](size_t i, std::vector<Frame> chain) {
      found.push_back(row_of(executable, std::move(chain), ranges[i]));
    });
    return found;
  }

  std::vector<Row> rows;

 private:
  uint32_t row_of(uint32_t executable, std::vector<Frame> frames, const NamedRange& range) {
    name_by_symbol(range, &frames);
    const size_t chosen = chosen_frame(executable, frames);
    Inside inside = options_.inlines ? inside_of(frames, chosen) : Inside();
    Frame frame = chosen < frames.size() ? std::move(frames[chosen]) : Frame{};
    const uint32_t start_line = frame.start_line;
    const bool is_private = profile_.executables[executable].kind == ExecutableKind::kPrivate;
    const bool by_symbol = frames.empty() && !own_ && !is_private;
    if (own_ && chosen == frames.size()) frame.function = bracketed(names_.shown(executable));
    if (frame.function.empty()) {
      frame.function = range.function;
      frame.linkage = range.linkage;
    }
    const auto [entry, fresh] = numbers_.try_emplace(
        Key(names_.shown(executable), std::move(frame.function), row_path(frame.file), frame.line,
            std::move(inside), by_symbol ? Place(executable, range.start) : Place()),
        static_cast<uint32_t>(rows.size()));
    if (fresh) add_row(entry->first, start_line);
    Row& row = rows[entry->second];
    row.linkage = std::move(frame.linkage);
    if (by_symbol) row.address = range.object_address();
    if (row.start_line != start_line) row.start_line = 0;  // code of several compilations: they disagree
    return entry->second;
  }

  void add_row(const Key& key, uint32_t start_line) {
    Row& row = rows.emplace_back();
    row.start_line = start_line;
    std::tie(row.object, row.function, row.file, row.line, row.inside, std::ignore) = key;
  }

  /// Units that were compiled in several directories have one header by several paths.
  static std::string row_path(const std::string& file) {
    return file.starts_with('/') ? normal_path(file) : file;
  }

  static std::string bracketed(const std::string& object) {
    return object.starts_with('[') ? object : "[" + object + "]";
  }

  /// The frame a tick counts for: the innermost one, in own files if those are asked for; with the inlined
  /// ones beside it the outermost. The number of frames if there is none.
  [[nodiscard]] size_t chosen_frame(uint32_t executable, const std::vector<Frame>& frames) const {
    if (!own_) return options_.inlines && !frames.empty() ? frames.size() - 1 : 0;
    size_t frame = 0;
    const std::string& object = names_.path(executable);
    while (frame < frames.size() && !own_->contains(frames[frame].file, object)) ++frame;
    return frame;
  }

  static Inside inside_of(const std::vector<Frame>& frames, size_t chosen) {
    Inside inside;
    if (chosen == frames.size()) return inside;
    for (size_t i = chosen; i-- > 0;) inside.emplace_back(row_path(frames[i].file), frames[i].line);
    return inside;
  }

  const Profile& profile_;
  ObjectNames& names_;
  const LineOptions& options_;
  std::optional<OwnFiles> own_;
  std::map<Key, uint32_t> numbers_;
};

/// Totals of lines: ticks with a call from the line on the stack, and those in the line itself. The paths do
/// not have the place where the innermost function ran. So where a function that has ticks in the line runs
/// below a call from it (recursion), some ticks may be both, and the total is a range.
class LineTotals {
 public:
  LineTotals(const Profile& profile, const PathFunctions& functions, LineRows* lines)
      : profile_(profile), tree_(profile.paths.context), functions_(functions), lines_(*lines) {
    things_.context.assign(tree_.size(), PathFunctions::kNone);
    for (uint32_t i = 0; i < functions.functions.size(); ++i) numbers_.emplace(functions.functions[i].key, i);
  }

  /// REQUIRES: called for all ticks. `ranges`, `lines`: of each place.
  void add_own(const ExecutableTicks& part, const std::string& object, std::span<const NamedRange> ranges,
               std::span<const uint32_t> lines) {
    const bool is_private = profile_.executables[part.executable].kind == ExecutableKind::kPrivate;
    for (size_t i = 0; i < lines.size(); ++i) {
      const FunctionKey key{object, ranges[i].function, is_private ? 0 : part.executable,
                            is_private ? 0 : ranges[i].start};
      const auto found = numbers_.find(key);
      if (found == numbers_.end()) continue;
      own_[pair_of(lines[i], found->second)].own += part.ticks[i];
      if (functions_.functions[found->second].shared) in_shared_.insert(lines[i]);
    }
  }

  void run() {
    find_calls();
    things_.count = lines_.rows.size();
    const std::vector<PathTotal> called = path_totals(profile_, things_);
    const std::vector<uint64_t> both = counted_twice();
    for (size_t i = 0; i < called.size(); ++i) {
      Row& row = lines_.rows[i];
      row.total = called[i];
      row.total.low += row.ticks - std::min(row.ticks, both[i]);
      row.total.high += row.ticks;
      include_own(row.ticks, &row.total);
    }
  }

 private:
  struct Own {
    uint64_t own = 0;    ///< ticks of a function in a line
    uint64_t below = 0;  ///< ticks of that function below a call from the line
  };

  static uint64_t pair_of(uint32_t line, uint32_t function) { return uint64_t{line} << 32 | function; }

  /// A node with others below it, or that had some, is a call.
  void find_calls() {
    std::vector<bool> is_call(tree_.size());
    for (size_t i = tree_.size(); i-- > 0;) {
      if (tree_[i].parent != PathTreeNode::kNoParent) is_call[tree_[i].parent] = true;
      if (tree_[i].folded != 0) is_call[i] = true;
    }
    std::map<uint32_t, std::map<uint64_t, std::vector<uint32_t>>> calls;  // executable, position: nodes
    for (uint32_t i = 0; i < tree_.size(); ++i)
      if (is_call[i] && tree_[i].kind == PathNodeKind::kCode)
        calls[tree_[i].executable][tree_[i].position].push_back(i);
    for (const auto& [executable, nodes] : calls) {
      std::vector<uint64_t> positions;
      for (const auto& [position, list] : nodes) positions.push_back(position);
      const std::vector<uint32_t> lines =
          lines_.rows_of(executable, positions, lines_.symbols_of(executable, positions));
      size_t next = 0;
      for (const auto& [position, list] : nodes) {
        for (uint32_t node : list) things_.context[node] = lines[next];
        ++next;
      }
    }
  }

  /// For each line, the ticks that may be in it and below a call from it.
  std::vector<uint64_t> counted_twice() {
    std::vector<uint32_t> depth(things_.count), open;  // open: the lines on the path, each once
    std::vector<uint64_t> unknown(things_.count), both(things_.count);  // unknown: which function ran
    walk_paths(
        tree_,
        [&](uint32_t node) {
          const uint32_t line = things_.context[node], function = functions_.context[node];
          if (line != PathFunctions::kNone && depth[line]++ == 0) open.push_back(line);
          if (tree_[node].folded != 0)
            for (uint32_t call : open) unknown[call] += tree_[node].folded;
          if (tree_[node].self == 0 || function == PathFunctions::kNone) return;
          const bool several = functions_.functions[function].several;
          for (uint32_t call : open) {
            const auto found = own_.find(pair_of(call, function));
            if (found != own_.end()) found->second.below += tree_[node].self;
            if (several && in_shared_.contains(call)) unknown[call] += tree_[node].self;
          }
        },
        [&](uint32_t node) {
          const uint32_t line = things_.context[node];
          if (line != PathFunctions::kNone && --depth[line] == 0) open.pop_back();
        });
    for (const auto& [pair, own] : own_) both[pair >> 32] += std::min(own.own, own.below);
    for (size_t i = 0; i < both.size(); ++i) both[i] += unknown[i];
    return both;
  }

  const Profile& profile_;
  const PathTree& tree_;
  const PathFunctions& functions_;
  LineRows& lines_;
  PathThings things_;
  std::map<FunctionKey, uint32_t> numbers_;
  std::unordered_map<uint64_t, Own> own_;   ///< by line and function
  std::unordered_set<uint32_t> in_shared_;  ///< lines with ticks in symbols of one unwind entry
};

}  // namespace

std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names, const LineOptions& options,
                              const PathFunctions* paths) {
  LineRows lines(profile, names, options);
  std::optional<LineTotals> totals;
  if (paths != nullptr) totals.emplace(profile, *paths, &lines);
  for_each_batch(profile, [&](const ExecutableTicks& part) {
    const std::vector<NamedRange> ranges = lines.symbols_of(part.executable, part.positions);
    const std::vector<uint32_t> rows = lines.rows_of(part.executable, part.positions, ranges);
    for (size_t i = 0; i < rows.size(); ++i) lines.rows[rows[i]].ticks += part.ticks[i];
    if (totals) totals->add_own(part, names.shown(part.executable), ranges, rows);
  });
  if (totals) totals->run();
  return std::move(lines.rows);
}

}  // namespace pctally
