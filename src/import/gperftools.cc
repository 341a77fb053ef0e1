#include <errno.h>
#include <string.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "base/file/byte_reader.h"
#include "import/formats.h"
#include "import/lines.h"
#include "import/stack_sum.h"

namespace pctally {
namespace {

constexpr uint64_t kHeaderWords = 5;  ///< 0, words that follow, version 0, period in microseconds, 0
constexpr uint64_t kLongestPeriodUs = 1'000'000'000;

/// How the machine that wrote the file wrote its words.
struct WordLayout {
  bool wide = true;
  bool swapped = false;
};

class Words {
 public:
  Words(ImportedBytes bytes, WordLayout layout) : bytes_(bytes), layout_(layout) {}

  /// False behind the end.
  bool next(uint64_t* word) {
    if (layout_.wide) return read<uint64_t>(word);
    return read<uint32_t>(word);
  }
  [[nodiscard]] uint64_t at() const { return at_; }

 private:
  template <class T>
  bool read(uint64_t* word) {
    T value;
    if (!bytes_.read(at_, &value)) return false;
    at_ += sizeof value;
    *word = layout_.swapped ? std::byteswap(value) : value;
    return true;
  }

  ByteReader bytes_;
  WordLayout layout_;
  uint64_t at_ = 0;
};

struct MappedRange {
  uint64_t start = 0, end = 0, offset = 0;
  std::string path;
};

std::optional<WordLayout> layout_of(ImportedBytes bytes) {
  for (const bool wide : {true, false})
    for (const bool swapped : {false, true}) {
      Words words(bytes, {wide, swapped});
      uint64_t header[kHeaderWords];
      bool whole = true;
      for (uint64_t& word : header) whole = whole && words.next(&word);
      const bool is_it = whole && header[0] == 0 && header[1] >= 3 && header[1] <= 64 && header[2] == 0 &&
                         header[3] > 0 && header[3] <= kLongestPeriodUs && header[4] == 0;
      if (is_it) return WordLayout{wide, swapped};
    }
  return std::nullopt;
}

/// "55d0-55e0 r-xp 00001000 08:01 1234   /usr/bin/x"
std::optional<MappedRange> parse_mapping(std::string_view line) {
  MappedRange range;
  const char *begin = line.data(), *end = begin + line.size();
  auto part = std::from_chars(begin, end, range.start, 16);
  if (part.ec != std::errc() || part.ptr == end || *part.ptr != '-') return std::nullopt;
  part = std::from_chars(part.ptr + 1, end, range.end, 16);
  if (part.ec != std::errc() || end - part.ptr < 6 || *part.ptr != ' ' || part.ptr[5] != ' ')
    return std::nullopt;
  if (part.ptr[3] != 'x' || range.end <= range.start) return std::nullopt;
  part = std::from_chars(part.ptr + 6, end, range.offset, 16);
  if (part.ec != std::errc()) return std::nullopt;
  std::string_view rest(part.ptr, static_cast<size_t>(end - part.ptr));
  for (int skipped = 0; skipped < 2; ++skipped) {  // device, inode
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  range.path = rest;
  return range;
}

class GperftoolsReader {
 public:
  GperftoolsReader(ImportedBytes bytes, WordLayout layout, const std::string& name, ImportedNames* names)
      : bytes_(bytes), words_(bytes, layout), sum_(names, name) {}
  Result<Profile> run();

 private:
  struct Record {
    uint64_t count = 0;
    size_t first = 0, depth = 0;  ///< of pcs_
  };

  Result<uint64_t> read_header();
  Result<void> read_records();
  Result<void> read_mappings();
  ImportedPlace place_of(uint64_t pc);

  ImportedBytes bytes_;
  Words words_;
  StackSum sum_;
  std::vector<uint64_t> pcs_;
  std::vector<Record> records_;
  std::vector<MappedRange> ranges_;
};

Result<uint64_t> GperftoolsReader::read_header() {
  uint64_t words = 0, period_us = 0, skipped = 0;
  words_.next(&skipped);
  words_.next(&words);
  words_.next(&skipped);
  words_.next(&period_us);
  for (uint64_t i = 2; i < words; ++i)
    if (!words_.next(&skipped)) return fail(EINVAL, "cut off in its header");
  return period_us * 1000;
}

Result<void> GperftoolsReader::read_records() {
  for (;;) {
    Record record;
    uint64_t depth = 0;
    if (!words_.next(&record.count) || !words_.next(&depth))
      return fail(EINVAL, "cut off: its trailer is missing");
    if (depth == 0 || !sum_.add_rows(depth))
      return fail(EINVAL,
                  depth == 0 ? "damaged: a stack without an address" : "it has more than 10,000,000 rows");
    record.first = pcs_.size();
    record.depth = depth;
    for (uint64_t i = 0; i < depth; ++i) {
      uint64_t pc = 0;
      if (!words_.next(&pc)) return fail(EINVAL, "cut off within a stack");
      pcs_.push_back(pc);
    }
    if (record.count == 0 && depth == 1 && pcs_.back() == 0) return {};
    records_.push_back(record);
  }
}

Result<void> GperftoolsReader::read_mappings() {
  const ImportedBytes rest = bytes_.subspan(words_.at());
  LineReader lines({reinterpret_cast<const char*>(rest.data()), rest.size()});
  for (std::string_view line; lines.next(&line);) {
    std::optional<MappedRange> range = parse_mapping(line);
    if (!range) continue;
    if (!sum_.add_rows(1)) return fail(EFBIG, "it has more than 10,000,000 rows");
    ranges_.push_back(std::move(*range));
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const MappedRange& a, const MappedRange& b) { return a.start < b.start; });
  return {};
}

ImportedPlace GperftoolsReader::place_of(uint64_t pc) {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), pc,
                       [](uint64_t at, const MappedRange& range) { return at < range.start; });
  const bool known = behind != ranges_.begin() && pc < (behind - 1)->end;
  const MappedRange* range = known ? &*(behind - 1) : nullptr;
  if (known && range->path == "[vdso]")
    return {sum_.file_object(range->path, ExecutableKind::kVdso), pc - range->start};
  if (known && range->path.starts_with('/'))
    return {sum_.file_object(range->path, ExecutableKind::kFile), pc - range->start + range->offset};
  return sum_.place(sum_.named_object(kNoObject), {{address_name(pc), "", 0}});
}

Result<Profile> GperftoolsReader::run() {
  const auto period = read_header();
  if (!period) return std::unexpected(period.error());
  if (auto read = read_records(); !read) return std::unexpected(read.error());
  if (auto read = read_mappings(); !read) return std::unexpected(read.error());
  std::vector<ImportedPlace> stack;
  for (const Record& record : records_) {
    stack.clear();
    // A caller's address is where it goes on: the call lies before it.
    for (size_t i = 0; i < record.depth; ++i) {
      const uint64_t pc = pcs_[record.first + i];
      if (i == 1 && pc == pcs_[record.first]) continue;  // the handler had it from the unwinder, too
      stack.push_back(place_of(i == 0 || pc == 0 ? pc : pc - 1));
    }
    uint64_t amount = 0;
    if (__builtin_mul_overflow(record.count, *period, &amount))
      return fail(EINVAL, "damaged: an impossible count");
    sum_.add(stack, amount, record.count);
  }
  Profile profile;
  profile.engine = "gperftools";
  for (const MappedRange& range : ranges_)
    if (profile.command.empty() && range.path.starts_with('/')) profile.command = {range.path};
  return sum_.take({.cpu_time = true, .event = {}, .period = *period}, std::move(profile));
}

}  // namespace

bool is_gperftools(ImportedBytes bytes) { return layout_of(bytes).has_value(); }

Result<Profile> import_gperftools(ImportedBytes bytes, const std::string& name, ImportedNames* names) {
  const std::optional<WordLayout> layout = layout_of(bytes);
  if (!layout) return fail(EINVAL, "not a CPU profile of gperftools");
  return GperftoolsReader(bytes, *layout, name, names).run();
}

}  // namespace pctally
