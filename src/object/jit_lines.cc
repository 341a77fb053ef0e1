#include "object/jit_lines.h"

#include <algorithm>
#include <cstring>

#include "object/elf/demangle.h"

namespace pctally {
namespace {

constexpr size_t kMostLines = 4u << 20;
constexpr size_t kMostFileBytes = 64u << 20;
constexpr uint32_t kLargestCode = 64u << 20;
constexpr uint32_t kElfHead = 0x40;
constexpr size_t kAlignment = 8;  ///< of records: less may follow the entries

/// A file's name follows, which a zero byte ends.
struct EntryHead {
  uint64_t address;
  uint32_t line;
  uint32_t discriminator;
};
static_assert(sizeof(EntryHead) == 16);

constexpr size_t kShortestEntry = sizeof(EntryHead) + 1;
constexpr std::string_view kSameFile = "\xff";

bool is_text(std::string_view name) {
  return std::ranges::none_of(name,
                              [](unsigned char c) { return c < ' ' || c == 0x7f || c == 0xfe || c == 0xff; });
}

}  // namespace

JitLines::Table JitLines::add(std::string_view entries, uint64_t count, uint64_t address) {
  const size_t first = lines_.size();
  if (count == 0 || count > entries.size() / kShortestEntry || count > kMostLines - first) return {};
  if (!take_named(entries, count, address)) {
    lines_.resize(first);
    if (!take_nameless(entries, count, address)) {
      lines_.resize(first);
      return {};
    }
  }
  std::stable_sort(lines_.begin() + static_cast<ptrdiff_t>(first), lines_.end(),
                   [](const Line& a, const Line& b) { return a.offset < b.offset; });
  nearest_ = std::min(nearest_, lines_[first].offset);
  return {static_cast<uint32_t>(first), static_cast<uint32_t>(count)};
}

bool JitLines::read(std::string_view entries, size_t at, uint64_t address, Line* line) {
  EntryHead head;
  if (at > entries.size() || entries.size() - at < kShortestEntry) return false;
  memcpy(&head, entries.data() + at, sizeof head);
  if (head.address - address > kLargestCode || head.line > INT32_MAX) return false;
  line->offset = static_cast<uint32_t>(head.address - address);
  line->line = head.line;
  return true;
}

bool JitLines::take_named(std::string_view entries, uint64_t count, uint64_t address) {
  size_t at = 0;
  uint32_t last_file = 0;
  for (uint64_t i = 0; i < count; ++i) {
    Line line;
    if (!read(entries, at, address, &line)) return false;
    at += sizeof(EntryHead);
    const size_t end = entries.find('\0', at);
    if (end == std::string_view::npos) return false;
    const std::string_view name = entries.substr(at, end - at);
    line.file = name == kSameFile ? last_file : file(name);
    last_file = line.file;
    lines_.push_back(line);
    at = end + 1;
  }
  return entries.size() - at < kAlignment;
}

/// V8 (in Node 20) writes freed memory in place of the name of a script, so that a zero byte may end it
/// too early. The entries of one script are of one length all the same.
bool JitLines::take_nameless(std::string_view entries, uint64_t count, uint64_t address) {
  const size_t first = lines_.size();
  for (size_t behind = 0; behind < kAlignment; ++behind) {
    const size_t length = (entries.size() - behind) / count;
    if ((entries.size() - behind) % count != 0 || length < kShortestEntry) continue;
    lines_.resize(first);
    for (uint64_t i = 0; i < count; ++i) {
      Line line;
      const bool sound = read(entries, i * length, address, &line) && entries[(i + 1) * length - 1] == '\0' &&
                         (i == 0 || lines_.back().offset <= line.offset);
      if (!sound) break;
      lines_.push_back(line);
    }
    if (lines_.size() - first == count) return true;
  }
  return false;
}

/// 0 if it is no name, or there is no room for more.
uint32_t JitLines::file(std::string_view name) {
  constexpr std::string_view kScheme = "file://";  // of modules of JavaScript
  if (name.starts_with(kScheme)) name.remove_prefix(kScheme.size());
  name = name.substr(0, kLongestName);
  if (name.empty() || !is_text(name)) return 0;
  if (const auto found = known_.find(std::string(name)); found != known_.end()) return found->second;
  if (name.size() > kMostFileBytes - file_bytes_) return 0;
  file_bytes_ += name.size();
  const auto number = static_cast<uint32_t>(files_.size());
  files_.emplace_back(name);
  known_.emplace(name, number);
  return number;
}

/// V8 counts from the start of an ELF file that has the code behind its head.
std::optional<JitLines::Place> JitLines::find(const Table& table, uint64_t offset) const {
  if (nearest_ == kElfHead) offset += kElfHead;
  const auto begin = lines_.begin() + table.first, end = begin + table.count;
  const auto behind = std::upper_bound(
      begin, end, offset, [](uint64_t wanted, const Line& line) { return wanted < line.offset; });
  if (behind == begin || (behind - 1)->line == 0) return {};
  return Place{files_[(behind - 1)->file], (behind - 1)->line};
}

}  // namespace pctally
