#include <map>
#include <tuple>

#include "report/rollup.h"

namespace pctally {
namespace {

using Key = std::tuple<std::string, std::string, std::string, uint32_t>;

void add_executable(const ExecutableTicks& part, ObjectNames& names, std::map<Key, uint64_t>* lines) {
  Symbolizer& symbolizer = names.symbolizer(part.executable);
  std::vector<std::vector<Frame>> frames = symbolizer.frames(part.positions);
  frames.resize(part.positions.size());
  std::vector<NamedRange> ranges = symbolizer.name(part.positions);
  ranges.resize(part.positions.size());
  const std::string& object = names.shown(part.executable);
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame frame = frames[i].empty() ? Frame{} : std::move(frames[i].front());
    if (frame.function.empty()) frame.function = std::move(ranges[i].function);
    (*lines)[Key(object, std::move(frame.function), std::move(frame.file), frame.line)] += part.ticks[i];
  }
}

}  // namespace

std::vector<Row> rows_by_line(const Profile& profile, ObjectNames& names) {
  std::map<Key, uint64_t> lines;
  for_each_batch(profile, [&](const ExecutableTicks& part) { add_executable(part, names, &lines); });
  std::vector<Row> rows;
  for (const auto& [key, ticks] : lines) {
    Row row;
    std::tie(row.object, row.function, row.file, row.line) = key;
    row.ticks = ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pctally
