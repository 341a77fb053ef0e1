#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "report/line_totals.h"
#include "report/names/own_files.h"
#include "report/rollup.h"

namespace pctally {
namespace {

/// Executable and start of a function without lines: of two that have one name each is a row, as by function.
using Place = std::pair<uint32_t, uint64_t>;
using Key = std::tuple<std::string, std::string, std::string, uint32_t, InlinedLines, Place>;

/// Numbers the rows of lines.
class LineRows {
 public:
  LineRows(ObjectNames& names, const LineOptions& options) : names_(names), options_(options) {
    if (options.own) own_.emplace(*options.own);
  }

  /// The symbol of each place.
  std::vector<NamedRange> symbols_of(uint32_t executable, std::span<const uint64_t> positions) {
    return names_.symbolizer(executable).name(positions);
  }

  /// The row of each place. `ranges`: as of symbols_of(). `ticks`: of each; empty: none.
  std::vector<uint32_t> rows_of(uint32_t executable, std::span<const uint64_t> positions,
                                std::span<const NamedRange> ranges, std::span<const uint64_t> ticks = {}) {
    std::vector<uint32_t> found;
    visit_frames(names_.symbolizer(executable), positions, [&](size_t i, std::vector<Frame> chain) {
      found.push_back(row_of(executable, std::move(chain), ranges[i], ticks.empty() ? 0 : ticks[i]));
    });
    return found;
  }

  /// REQUIRES: all ticks were given to rows_of().
  void add_hot_chains() {
    for (const auto& [key, ticks] : chains_) {
      HotChain& hot = rows[key.first].hot_chain;
      if (!hot.lines.empty()) ++hot.others;
      if (ticks <= hot.ticks) continue;
      hot.lines = key.second;
      hot.ticks = ticks;
    }
  }

  std::vector<Row> rows;

 private:
  uint32_t row_of(uint32_t executable, std::vector<Frame> frames, const NamedRange& range, uint64_t ticks) {
    name_by_symbol(range, &frames);
    const size_t chosen = chosen_frame(executable, frames);
    InlinedLines chain =
        options_.inlines || (own_ && ticks != 0) ? inside_of(frames, chosen) : InlinedLines();
    Frame frame = chosen < frames.size() ? std::move(frames[chosen]) : Frame{};
    const uint32_t start_line = frame.start_line;
    const bool by_symbol = frames.empty() && !own_ && !names_.known_by_name(executable);
    if (own_ && chosen == frames.size()) frame.function = bracketed(names_.shown(executable));
    if (frame.function.empty()) {
      frame.function = range.function;
      frame.linkage = range.linkage;
    }
    const auto [entry, fresh] = numbers_.try_emplace(
        Key(names_.shown(executable), std::move(frame.function), row_path(frame.file), frame.line,
            options_.inlines ? chain : InlinedLines(), by_symbol ? Place(executable, range.start) : Place()),
        static_cast<uint32_t>(rows.size()));
    if (fresh) add_row(entry->first, start_line);
    Row& row = rows[entry->second];
    row.linkage = std::move(frame.linkage);
    if (by_symbol) row.address = range.object_address();
    row.ticks += ticks;
    if (!options_.inlines && !chain.empty()) chains_[{entry->second, std::move(chain)}] += ticks;
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

  static InlinedLines inside_of(const std::vector<Frame>& frames, size_t chosen) {
    InlinedLines inside;
    if (chosen == frames.size()) return inside;
    for (size_t i = chosen; i-- > 0;) inside.emplace_back(row_path(frames[i].file), frames[i].line);
    return inside;
  }

  ObjectNames& names_;
  const LineOptions& options_;
  std::optional<OwnFiles> own_;
  std::map<Key, uint32_t> numbers_;
  std::map<std::pair<uint32_t, InlinedLines>, uint64_t> chains_;  ///< ticks, by row
};

/// The calls and the own ticks of the rows.
class TotalsOfRows {
 public:
  TotalsOfRows(const Profile& profile, const PathFunctions& functions, LineRows* lines)
      : profile_(profile), lines_(*lines), totals_(profile, functions) {
    for (uint32_t i = 0; i < functions.functions.size(); ++i) numbers_.emplace(functions.functions[i].key, i);
  }

  /// REQUIRES: called for all ticks. `ranges`, `lines`: one for each place.
  void add_own(const ExecutableTicks& part, const ObjectNames& names, std::span<const NamedRange> ranges,
               std::span<const uint32_t> lines) {
    for (size_t i = 0; i < lines.size(); ++i) {
      const FunctionKey key = function_key(names, part.executable, ranges[i].function, ranges[i].start);
      if (const auto found = numbers_.find(key); found != numbers_.end())
        totals_.add_own(lines[i], found->second, part.ticks[i]);
    }
  }

  void run() {
    find_calls();
    std::vector<uint64_t> own;
    for (const Row& row : lines_.rows) own.push_back(row.ticks);
    const std::vector<PathTotal> totals = totals_.totals(own);
    for (size_t i = 0; i < totals.size(); ++i) lines_.rows[i].total = totals[i];
  }

 private:
  void find_calls() {
    const PathTree& tree = profile_.paths.context;
    const std::vector<bool> is_call = calls_of(tree);
    std::map<uint32_t, std::map<uint64_t, std::vector<uint32_t>>> calls;  // executable, position: nodes
    for (uint32_t i = 0; i < tree.size(); ++i)
      if (is_call[i]) calls[tree[i].executable][tree[i].position].push_back(i);
    for (const auto& [executable, nodes] : calls) {
      std::vector<uint64_t> positions;
      for (const auto& [position, list] : nodes) positions.push_back(position);
      const std::vector<uint32_t> lines =
          lines_.rows_of(executable, positions, lines_.symbols_of(executable, positions));
      size_t next = 0;
      for (const auto& [position, list] : nodes) {
        for (uint32_t node : list) totals_.add_call(node, lines[next]);
        ++next;
      }
    }
  }

  const Profile& profile_;
  LineRows& lines_;
  LineTotals totals_;
  std::map<FunctionKey, uint32_t> numbers_;
};

}  // namespace

std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names, const LineOptions& options,
                              const PathFunctions* paths) {
  LineRows lines(names, options);
  std::optional<TotalsOfRows> totals;
  if (paths != nullptr) totals.emplace(profile, *paths, &lines);
  for_each_batch(profile, [&](const ExecutableTicks& part) {
    const std::vector<NamedRange> ranges = lines.symbols_of(part.executable, part.positions);
    const std::vector<uint32_t> rows = lines.rows_of(part.executable, part.positions, ranges, part.ticks);
    if (totals) totals->add_own(part, names, ranges, rows);
  });
  lines.add_hot_chains();
  if (totals) totals->run();
  return std::move(lines.rows);
}

}  // namespace pctally
