#include "tool/gperf/report.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <filesystem>
#include <map>
#include <memory>

#include "object/elf/symbol_table.h"
#include "object/symbolizer.h"
#include "process/proc_maps.h"
#include "report/print/escape.h"
#include "report/print/figures.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNameColumns = 53;
constexpr unsigned kWordBytes = 4;

struct Words {
  std::vector<uint64_t> addresses;  ///< of words with ticks, ascending
  std::map<uint64_t, uint64_t> counts;
};

/// Segments may overlap: the same word then has counters in several of them, and all of them count.
Words words_of(const GperfCounts& counts) {
  Words words;
  for (const GperfSegment& segment : counts.segments)
    for (size_t i = 0; i < segment.counters.size(); ++i)
      if (segment.counters[i] != 0) words.counts[segment.text_start + kWordBytes * i] += segment.counters[i];
  for (const auto& [address, count] : words.counts) words.addresses.push_back(address);
  return words;
}

std::vector<NamedRange> names_of(std::span<const uint64_t> addresses, const GperfMapping& mapping) {
  std::vector<uint64_t> positions;
  for (uint64_t address : addresses) positions.push_back(address - mapping.start + mapping.file_offset);
  ExecutableIdentity identity;
  identity.path = mapping.path;
  identity.build_id = mapping.build_id;
  auto symbolizer = Symbolizer::open(identity);
  std::vector<NamedRange> names = symbolizer->name(positions);
  if (!symbolizer->problem().empty()) complain("no names from {}: {}", mapping.path, symbolizer->problem());
  return names;
}

struct Rows {
  std::vector<GperfRow> rows;

  void add(uint64_t address, const std::string& name, uint64_t count) {
    if (rows.empty() || rows.back().address != address || rows.back().name != name)
      rows.push_back({address, name, 0});
    rows.back().count += count;
  }
};

/// The addresses that lie in one mapping, or before the next.
size_t run_length(std::span<const uint64_t> addresses, uint64_t end) {
  size_t length = 0;
  while (length < addresses.size() && addresses[length] < end) ++length;
  return length;
}

void add_named(Rows* rows, const Words& words, std::span<const uint64_t> run, const GperfMapping& mapping) {
  std::vector<NamedRange> names = names_of(run, mapping);
  for (size_t i = 0; i < run.size(); ++i) {
    uint64_t start = names[i].start - mapping.file_offset + mapping.start;
    rows->add(start, names[i].function, words.counts.at(run[i]));
  }
}

void add_unnamed(Rows* rows, const Words& words, std::span<const uint64_t> run) {
  for (uint64_t address : run) rows->add(address, "[unknown]", words.counts.at(address));
}

std::string link_target(const std::string& path) {
  char target[PATH_MAX];
  ssize_t length = readlink(path.c_str(), target, sizeof target);
  return {target, length > 0 ? static_cast<size_t>(length) : 0};
}

std::string header(const GperfCounts& counts, const GperfLayout& layout) {
  const std::string rule(61, '-');
  std::string text = rule + "\nProfile Report for osprof\n";
  text += fmt::format("Number of text symbols: {}\n", layout.text_symbols);
  text += fmt::format("Sample period: {} microseconds\n", counts.period_us);
  text += fmt::format("Number of profiled segments: {}\n", counts.segments.size());
  for (size_t i = 0; i < counts.segments.size(); ++i)
    text += fmt::format("Text segment {}, start = {:08x}, size = {:08x}\n", i, counts.segments[i].text_start,
                        kWordBytes * counts.segments[i].counters.size());
  return text + rule + "\n\n\n";
}

/// A name too long for its columns makes the line longer; it is not cut.
std::string dotted(const std::string& label) {
  size_t width = width_of(label);
  return label + std::string(width < kNameColumns ? kNameColumns - width : 1, '.');
}

struct Figures {
  GperfUnit unit;
  uint64_t total;
  uint32_t period_us;

  [[nodiscard]] std::string of(uint64_t count) const {
    if (unit == GperfUnit::kCounts) return fmt::format("{:10}", count);
    if (unit == GperfUnit::kTime)
      return fmt::format("{:10.4f} s", 1e-6 * static_cast<double>(count) * period_us);
    return fmt::format("{:10.4f} %", percent_of(count, total));
  }
  [[nodiscard]] bool reach(uint64_t count, double threshold) const {
    return (unit == GperfUnit::kCounts ? static_cast<double>(count) : percent_of(count, total)) >= threshold;
  }
};

}  // namespace

std::vector<GperfMapping> gperf_mappings(pid_t pid, const std::string& a_out) {
  std::vector<GperfMapping> mappings;
  std::string program = link_target(fmt::format("/proc/{}/exe", pid));
  std::string given =
      fs::absolute(a_out).lexically_normal();  // only absolute paths are files to a Symbolizer
  ProcMaps(pid).visit([&](const ExecutableMapping& one) {
    std::string path(one.object.path);
    bool is_file = one.object.kind == ObjectKind::kFile;
    const uint8_t* id = one.object.build_id;
    mappings.push_back({one.start,
                        one.end,
                        one.file_offset,
                        path == program ? given : path,
                        is_file,
                        {id, id + one.object.build_id_bytes}});
  });
  return mappings;
}

std::vector<GperfRow> gperf_rows(const GperfCounts& counts, const std::vector<GperfMapping>& mappings) {
  Words words = words_of(counts);
  std::span<const uint64_t> rest(words.addresses);
  Rows rows;
  for (const GperfMapping& mapping : mappings) {
    size_t before = run_length(rest, mapping.start);
    add_unnamed(&rows, words, rest.first(before));
    rest = rest.subspan(before);
    size_t inside = run_length(rest, mapping.end);
    if (inside > 0 && mapping.is_file)
      add_named(&rows, words, rest.first(inside), mapping);
    else
      add_unnamed(&rows, words, rest.first(inside));
    rest = rest.subspan(inside);
  }
  add_unnamed(&rows, words, rest);
  return std::move(rows.rows);
}

Result<size_t> count_text_symbols(const std::string& a_out) {
  auto file = ElfFile::open(a_out);
  if (!file) return std::unexpected(file.error());
  for (uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})
    for (const ElfSection& section : file->sections()) {
      auto table = section.type == type ? SymbolTable::open(*file, section) : std::nullopt;
      if (!table) continue;
      size_t count = 0;
      for (size_t i = 0; i < table->size(); ++i) count += table->code(i).has_value() ? 1 : 0;
      return count;
    }
  return 0;
}

std::string gperf_report(const GperfCounts& counts, const std::vector<GperfRow>& rows,
                         const GperfLayout& layout) {
  uint64_t total = counts.overflow;
  for (const GperfRow& row : rows) total += row.count;
  Figures figures{layout.unit, total, counts.period_us};
  std::string text = header(counts, layout);
  for (const GperfRow& row : rows)
    if (figures.reach(row.count, layout.threshold))
      text +=
          dotted(fmt::format("{:08x}  {}", row.address, escaped(row.name))) + figures.of(row.count) + "\n";
  return text + dotted("Overflow  ") + figures.of(counts.overflow) + "\n";
}

}  // namespace pctally
