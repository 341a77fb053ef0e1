#include <map>
#include <optional>
#include <tuple>

#include "report/names/own_files.h"
#include "report/rollup.h"

namespace pctally {
namespace {

/// Where ticks of a line lie inside it: file and line of each inlined frame, outermost first.
using Inside = std::vector<std::pair<std::string, uint32_t>>;
using Key = std::tuple<std::string, std::string, std::string, uint32_t, Inside>;

struct Line {
  uint64_t ticks = 0;
  std::string linkage;
};

class LineRows {
 public:
  LineRows(ObjectNames& names, const LineOptions& options) : names_(names), options_(options) {
    if (options.own) own_.emplace(*options.own);
  }

  void add(const ExecutableTicks& part) {
    Symbolizer& symbolizer = names_.symbolizer(part.executable);
    std::vector<std::vector<Frame>> frames = symbolizer.frames(part.positions);
    frames.resize(part.positions.size());
    std::vector<NamedRange> ranges = symbolizer.name(part.positions);
    ranges.resize(part.positions.size());
    for (size_t i = 0; i < frames.size(); ++i) {
      const size_t chosen = chosen_frame(frames[i]);
      Inside inside = options_.inlines ? inside_of(frames[i], chosen) : Inside();
      Frame frame = chosen < frames[i].size() ? std::move(frames[i][chosen]) : Frame{};
      if (own_ && chosen == frames[i].size()) frame.function = bracketed(names_.shown(part.executable));
      if (frame.function.empty()) {
        frame.function = std::move(ranges[i].function);
        frame.linkage = std::move(ranges[i].linkage);
      }
      Line& line = lines_[Key(names_.shown(part.executable), std::move(frame.function), std::move(frame.file),
                              frame.line, std::move(inside))];
      line.ticks += part.ticks[i];
      line.linkage = std::move(frame.linkage);
    }
  }

  std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (const auto& [key, line] : lines_) {
      Row row;
      std::tie(row.object, row.function, row.file, row.line, row.inside) = key;
      row.linkage = line.linkage;
      row.ticks = line.ticks;
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  static std::string bracketed(const std::string& object) {
    return object.starts_with('[') ? object : "[" + object + "]";
  }

  /// The frame a tick counts for: the innermost one, in own files if those are asked for; with the inlined
  /// ones beside it the outermost. The number of frames if there is none.
  [[nodiscard]] size_t chosen_frame(const std::vector<Frame>& frames) const {
    if (!own_) return options_.inlines && !frames.empty() ? frames.size() - 1 : 0;
    size_t frame = 0;
    while (frame < frames.size() && !own_->contains(frames[frame].file)) ++frame;
    return frame;
  }

  static Inside inside_of(const std::vector<Frame>& frames, size_t chosen) {
    Inside inside;
    if (chosen == frames.size()) return inside;
    for (size_t i = chosen; i-- > 0;) inside.emplace_back(frames[i].file, frames[i].line);
    return inside;
  }

  ObjectNames& names_;
  const LineOptions& options_;
  std::optional<OwnFiles> own_;
  std::map<Key, Line> lines_;
};

}  // namespace

std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names, const LineOptions& options) {
  LineRows rows(names, options);
  for_each_batch(profile, [&](const ExecutableTicks& part) { rows.add(part); });
  return rows.rows();
}

}  // namespace pctally
