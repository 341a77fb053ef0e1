#include <errno.h>
#include <string.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>

#include "base/file/byte_reader.h"
#include "import/address_names.h"
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
  GperftoolsReader(ImportedBytes bytes, WordLayout layout, AddressNames known, const std::string& name,
                   ImportedNames* names)
      : bytes_(bytes), words_(bytes, layout), known_(std::move(known)), sum_(names, name) {}
  Result<Profile> run();

 private:
  struct Record {
    uint64_t count = 0;
    size_t first = 0, depth = 0;  ///< of pcs_
  };

  Result<uint64_t> read_header();
  Result<void> read_records();
  Result<void> read_mappings();
  const MappedRange* range_of(uint64_t pc) const;
  ImportedPlace place_of(uint64_t pc);
  std::optional<ImportedPlace> named_place(uint64_t pc);
  bool has_no_period(uint64_t period_ns) const;

  ImportedBytes bytes_;
  Words words_;
  AddressNames known_;  ///< of a file that has names
  StackSum sum_;
  std::map<uint64_t, ImportedPlace> named_places_;
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
    const bool at_end = words_.at() == bytes_.size();
    if (at_end && !known_.frames.empty()) return {};  // google-pprof leaves out the trailer, and the mappings
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

const MappedRange* GperftoolsReader::range_of(uint64_t pc) const {
  const auto behind =
      std::upper_bound(ranges_.begin(), ranges_.end(), pc,
                       [](uint64_t at, const MappedRange& range) { return at < range.start; });
  const bool known = behind != ranges_.begin() && pc < (behind - 1)->end;
  return known ? &*(behind - 1) : nullptr;
}

/// google-pprof writes this period whatever it has read; gperftools takes no sample as often as that.
bool GperftoolsReader::has_no_period(uint64_t period_ns) const {
  return !known_.frames.empty() && period_ns == 1000;
}

/// By the names in the file.
std::optional<ImportedPlace> GperftoolsReader::named_place(uint64_t pc) {
  const auto found = known_.frames.find(pc);
  if (found == known_.frames.end()) return std::nullopt;
  const auto [entry, fresh] = named_places_.try_emplace(pc);
  const MappedRange* range = range_of(pc);
  const bool in_file = range != nullptr && range->path.starts_with('/');
  if (fresh) entry->second = sum_.place(sum_.named_object(in_file ? range->path : kNoObject), found->second);
  return entry->second;
}

ImportedPlace GperftoolsReader::place_of(uint64_t pc) {
  if (const auto named = named_place(pc)) return *named;
  const MappedRange* range = range_of(pc);
  const bool known = range != nullptr;
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
  const bool cpu_time = !has_no_period(*period);
  const ImportedUnit unit = cpu_time ? ImportedUnit{.cpu_time = true, .event = {}, .period = *period}
                                     : ImportedUnit{.event = "samples", .period = 1};
  std::vector<ImportedPlace> stack;
  for (const Record& record : records_) {
    stack.clear();
    // A caller's address is where it goes on: the call lies before it.
    for (size_t i = 0; i < record.depth; ++i) {
      const uint64_t pc = pcs_[record.first + i];
      if (i == 1 && pc == pcs_[record.first]) continue;  // the handler had it from the unwinder, too
      // google-pprof has subtracted 1 already in what it read itself.
      const bool is_call = i != 0 && pc != 0 && !known_.frames.contains(pc);
      stack.push_back(place_of(is_call ? pc - 1 : pc));
    }
    uint64_t amount = 0;
    if (__builtin_mul_overflow(record.count, unit.period, &amount))
      return fail(EINVAL, "damaged: an impossible count");
    sum_.add(stack, amount, record.count);
  }
  Profile profile;
  profile.engine = "gperftools";
  if (!known_.program.empty()) profile.command = {known_.program};
  for (const MappedRange& range : ranges_)
    if (profile.command.empty() && range.path.starts_with('/')) profile.command = {range.path};
  return sum_.take(unit, std::move(profile));
}

}  // namespace

bool is_gperftools(ImportedBytes bytes) {
  const size_t names = end_of_address_names(text_of(bytes)).value_or(0);
  return layout_of(bytes.subspan(names)).has_value();
}

Result<Profile> import_gperftools(ImportedBytes bytes, const std::string& name, ImportedNames* names) {
  const size_t start = end_of_address_names(text_of(bytes)).value_or(0);
  const ImportedBytes profile = bytes.subspan(start);
  const std::optional<WordLayout> layout = layout_of(profile);
  if (!layout) return fail(EINVAL, "not a CPU profile of gperftools");
  Result<AddressNames> known = parse_address_names(text_of(bytes.first(start)));
  if (!known) return std::unexpected(known.error());
  return GperftoolsReader(profile, *layout, std::move(*known), name, names).run();
}

}  // namespace pctally
