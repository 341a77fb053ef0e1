#include "task/mapping_history.h"

#include <algorithm>
#include <iterator>

#include "base/time_ns.h"

namespace pctally {
namespace {

constexpr uint64_t kQuietReadings =
    50;  ///< after a change, a second at least: it may go on faster than maps are read
constexpr size_t kMostRanges = 1 << 16;

}  // namespace

/// Enters a mapping in place of those it covers. True if one of them was of another file.
bool MappingHistory::take(const ExecutableMapping& mapping) {
  Range range{mapping.end, mapping.object.device, mapping.object.inode, mapping.file_offset, readings_};
  auto at = ranges_.upper_bound(mapping.start);
  if (at != ranges_.begin() && std::prev(at)->second.end > mapping.start) --at;
  bool replaces = false;
  while (at != ranges_.end() && at->first < mapping.end) {
    const Range& old = at->second;
    const bool same = at->first == mapping.start && old.same_file(range);
    replaces = replaces || !same;
    range.changed = std::max(range.changed, old.changed);
    at = ranges_.erase(at);
  }
  range.changed_before = range.changed;
  if (replaces && !was_unloaded(mapping.start, mapping.end)) range.changed = readings_;
  ranges_[mapping.start] = range;
  return replaces;
}

bool MappingHistory::read(pid_t pid) {
  if (monotonic_ns() < next_ns_) return false;
  const uint64_t used_ns = thread_cpu_ns();
  ++readings_;
  if (ranges_.size() > kMostRanges) ranges_.clear();
  bool changed = waits_for_reading();
  ProcMaps maps(pid, ProcMaps::BuildIds::kLeaveOut);
  const bool readable = maps.visit([&](const ExecutableMapping& mapping) {
    if (mapping.object.kind == ObjectKind::kFile) changed = take(mapping) || changed;
  });
  if (!readable) {  // it has ended: what it had is what it had
    --readings_;
    return false;
  }
  std::erase_if(ranges_, [this](const auto& entry) {  // what comes there next takes nobody's place
    return entry.second.seen != readings_ && was_unloaded(entry.first, entry.second.end);
  });
  unloaded_.clear();
  for (const auto& [start, range] : ranges_) changed = changed || range.seen + 1 == readings_;
  next_ns_ = monotonic_ns() + pause_ * (thread_cpu_ns() - used_ns);
  return changed;
}

/// If there are more than can be kept, all of memory counts as unloaded.
void MappingHistory::note_unload(uint64_t start, uint64_t end) {
  constexpr size_t kMost = 64;
  if (unloaded_.size() < kMost)
    unloaded_.emplace_back(start, end);
  else
    unloaded_.assign(kMost, {0, UINT64_MAX});
  for (auto& [at, range] : ranges_)
    if (range.changed == readings_ && at < end && start < range.end) range.changed = range.changed_before;
}

bool MappingHistory::was_unloaded(uint64_t start, uint64_t end) const {
  return std::ranges::any_of(unloaded_,
                             [&](const auto& range) { return range.first < end && start < range.second; });
}

bool MappingHistory::is_doubtful(uint64_t pc) const {
  if (was_unloaded(pc, pc + 1)) return true;
  auto after = ranges_.upper_bound(pc);
  if (after == ranges_.begin() || std::prev(after)->second.end <= pc) return false;
  const Range& range = std::prev(after)->second;
  return range.seen != readings_ || (range.changed != 0 && range.changed + kQuietReadings >= readings_);
}

}  // namespace pctally
