#include <map>
#include <tuple>

#include "report/rollup.h"

namespace pctally {
namespace {

using Key = std::tuple<std::string, std::string, std::string, uint32_t>;

struct Line {
  uint64_t ticks = 0;
  std::string linkage;
};

void add_executable(const ExecutableTicks& part, ObjectNames& names, std::map<Key, Line>* lines) {
  Symbolizer& symbolizer = names.symbolizer(part.executable);
  std::vector<std::vector<Frame>> frames = symbolizer.frames(part.positions);
  frames.resize(part.positions.size());
  std::vector<NamedRange> ranges = symbolizer.name(part.positions);
  ranges.resize(part.positions.size());
  const std::string& object = names.shown(part.executable);
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame frame = frames[i].empty() ? Frame{} : std::move(frames[i].front());
    if (frame.function.empty()) {
      frame.function = std::move(ranges[i].function);
      frame.linkage = std::move(ranges[i].linkage);
    }
    Line& line = (*lines)[Key(object, std::move(frame.function), std::move(frame.file), frame.line)];
    line.ticks += part.ticks[i];
    line.linkage = std::move(frame.linkage);
  }
}

}  // namespace

std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names) {
  std::map<Key, Line> lines;
  for_each_batch(profile, [&](const ExecutableTicks& part) { add_executable(part, names, &lines); });
  std::vector<Row> rows;
  for (const auto& [key, line] : lines) {
    Row row;
    std::tie(row.object, row.function, row.file, row.line) = key;
    row.linkage = line.linkage;
    row.ticks = line.ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pctally
