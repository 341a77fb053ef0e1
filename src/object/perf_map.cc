#include "object/perf_map.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/kernel/proc_file.h"
#include "object/elf/cover.h"
#include "object/elf/demangle.h"
#include "object/elf/side_file.h"
#include "object/elf/text_map.h"

namespace pctally {
namespace {

constexpr size_t kLargestMap = 256u << 20;
constexpr size_t kMostEntries = 4u << 20;

/// Reads a hexadecimal number and the space behind it.
bool take_number(std::string_view* line, uint64_t* value) {
  if (line->starts_with("0x")) line->remove_prefix(2);
  const auto [rest, error] = std::from_chars(line->data(), line->data() + line->size(), *value, 16);
  const auto used = static_cast<size_t>(rest - line->data());
  if (error != std::errc() || used == line->size() || *rest != ' ') return false;
  line->remove_prefix(used + 1);
  return true;
}

/// The number a living process has in its own pid namespace, if that is not ours; 0: it has none, is gone, or
/// is another process by now.
int32_t number_inside(int32_t pid, uint64_t started_unix_ns) {
  ProcStat stat;
  ProcStatus status;
  if (started_unix_ns == 0 || !read_proc_stat(pid, &stat)) return 0;
  if (!read_proc_status(pid, &status)) return 0;
  const uint64_t started = start_ns(stat, CLOCK_REALTIME);
  if (std::max(started, started_unix_ns) - std::min(started, started_unix_ns) > kClocksAgreeNs) return 0;
  return status.inside == pid ? 0 : status.inside;
}

Result<PerfMap> read_map(const std::string& path, Trust trust, uint64_t started_unix_ns) {
  uint64_t changed = 0;
  auto text = read_side_file(path, kLargestMap, trust, &changed);
  if (!text) return std::unexpected(text.error());
  if (is_older_than_process(changed, started_unix_ns))
    return fail(ESTALE, "%s is older than the process", path.c_str());
  return PerfMap::parse(std::move(*text));
}

}  // namespace

NamedRange unnamed_jit(AddressRange gap) {
  return {gap.start == 0 ? "[jit]" : unnamed_text("jit", gap.start), gap.start, gap.end};
}

Result<PerfMap> PerfMap::open(int32_t pid, const std::string& directory, uint64_t started_unix_ns) {
  std::string path = directory + "/perf-" + std::to_string(pid) + ".map";
  Trust trust = Trust::kRootOrOurselves;
  const int32_t inner = number_inside(pid, started_unix_ns);
  if (inner != 0) {
    // Whoever runs there may write what he likes of himself.
    path = "/proc/" + std::to_string(pid) + "/root" + directory + "/perf-" + std::to_string(inner) + ".map";
    trust = Trust::kAnybody;
  }
  return read_map(path, trust, started_unix_ns);
}

Result<PerfMap> PerfMap::read(const std::string& path, uint64_t started_unix_ns) {
  return read_map(path, Trust::kAnybody, started_unix_ns);
}

PerfMap PerfMap::parse(std::string text) {
  PerfMap map;
  map.text_ = std::move(text);
  return map;
}

bool PerfMap::parse_line(std::string_view line, Entry* entry) {
  uint64_t size = 0;
  if (!take_number(&line, &entry->start) || !take_number(&line, &size)) return false;
  if (size == 0 || size > UINT64_MAX - entry->start || line.empty()) return false;
  entry->end = entry->start + size;
  entry->name = line.substr(0, kLongestName);
  return true;
}

std::string_view PerfMap::line_at(uint64_t offset) const {
  const std::string_view rest = std::string_view(text_).substr(offset);
  return rest.substr(0, rest.find('\n'));
}

std::vector<NamedRange> PerfMap::name(std::span<const uint64_t> addresses) const {
  Cover cover(addresses);
  Entry entry;
  size_t entries = 0;
  for (size_t at = 0; at < text_.size() && entries < kMostEntries;) {
    const std::string_view line = line_at(at);
    if (parse_line(line, &entry)) {
      cover.add(entry.start, entry.end, at);
      entries++;
    }
    at += line.size() + 1;
  }
  // An entry's id is the place of its line: later lines win.
  cover.resolve([](const Cover::Candidate& a, const Cover::Candidate& b) { return a.id > b.id; });
  std::vector<NamedRange> result;
  for (size_t i = 0; i < addresses.size(); i++) {
    const Cover::Candidate* winner = cover.winner(i);
    result.push_back(winner == nullptr ? unnamed_jit(cover.cell(i)) : named(*winner));
  }
  return result;
}

NamedRange PerfMap::named(const Cover::Candidate& winner) const {
  Entry entry;
  parse_line(line_at(winner.id), &entry);
  return {std::string(entry.name), entry.start, entry.end};
}

}  // namespace pctally
