#include "object/kernel_symbols.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "object/side_file.h"
#include "object/text_map.h"

namespace pctally {
namespace {

constexpr size_t kLargestTable = 256u << 20;
/// The last function of a region has no next symbol to end it.
constexpr uint64_t kLongestFunction = 64 << 10;

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Marks the linker script sets: "_etext", "__entry_text_end". They bound text and do not name it.
bool is_bound(std::string_view name) {
  return name.ends_with("_etext") || name.ends_with("_einittext") ||
         (name.starts_with("__") && name.ends_with("_end"));
}

bool is_text_type(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }

}  // namespace

std::vector<uint8_t> parse_uuid(std::string_view text) {
  std::string digits;
  for (char c : text) {
    if (is_hex(c)) digits += c;
  }
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes.push_back(byte);
  }
  return bytes.size() == 16 ? bytes : std::vector<uint8_t>{};
}

Result<KernelSymbols> KernelSymbols::load(std::span<const uint8_t> boot_id) {
  const auto boot = read_side_file("/proc/sys/kernel/random/boot_id", 4096, Trust::kAnybody);
  if (!boot) return std::unexpected(boot.error());
  if (boot_id.empty() || !std::ranges::equal(parse_uuid(*boot), boot_id)) {
    return fail(0, "recorded in another boot: kernel addresses mean nothing now");
  }
  auto text = read_side_file("/proc/kallsyms", kLargestTable, Trust::kAnybody);
  if (!text) return std::unexpected(text.error());
  return parse(std::move(*text));
}

Result<KernelSymbols> KernelSymbols::parse(std::string text) {
  KernelSymbols symbols;
  symbols.text_ = std::move(text);
  const std::string_view all = symbols.text_;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    symbols.add(all.substr(at, end - at));
    at = end + 1;
  }
  if (symbols.entries_.empty()) {
    return fail(0, "kernel symbols are hidden (run as root, or set kernel.kptr_restrict to 0)");
  }
  symbols.sort();
  return symbols;
}

/// "ffffffff81000000 T _text" or "ffffffffc0001000 t init\t[module]"
void KernelSymbols::add(std::string_view line) {
  uint64_t address = 0;
  const char* end = line.data() + line.size();
  const auto [rest, error] = std::from_chars(line.data(), end, address, 16);
  if (error != std::errc() || address == 0 || end - rest < 4 || rest[0] != ' ' || rest[2] != ' ') return;
  Entry entry{address, static_cast<uint32_t>(rest + 3 - text_.data())};
  entry.names_text = is_text_type(rest[1]) && !is_bound(name_of(entry));
  entries_.push_back(entry);
}

std::string_view KernelSymbols::name_of(const Entry& entry) const {
  const std::string_view rest = std::string_view(text_).substr(entry.name);
  return rest.substr(0, rest.find('\n'));
}

bool KernelSymbols::better(const Entry& a, const Entry& b) const {
  const auto rank = [this](const Entry& entry) {
    const std::string_view name = name_of(entry);
    const bool global = text_[entry.name - 2] == 'T' || text_[entry.name - 2] == 'W';
    return std::tuple(!entry.names_text, !global, name.find_first_not_of('_'), name.size(), name);
  };
  return rank(a) < rank(b);
}

void KernelSymbols::sort() {
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    return a.address != b.address ? a.address < b.address : better(a, b);
  });
  const auto aliases = std::ranges::unique(entries_, {}, &Entry::address);
  entries_.erase(aliases.begin(), aliases.end());
}

std::vector<NamedRange> KernelSymbols::name(std::span<const uint64_t> addresses) const {
  std::vector<NamedRange> result;
  result.reserve(addresses.size());
  for (uint64_t address : addresses) {
    const bool same = !result.empty() && address < result.back().end;
    result.push_back(same ? result.back() : range_at(address));
  }
  return result;
}

NamedRange KernelSymbols::range_at(uint64_t address) const {
  const auto next = std::ranges::upper_bound(entries_, address, {}, &Entry::address);
  const uint64_t limit = next == entries_.end() ? UINT64_MAX : next->address;
  if (next == entries_.begin()) return {"[kernel]", 0, limit};
  const Entry& entry = *(next - 1);
  const uint64_t end =
      std::min(limit, entry.address + std::min(kLongestFunction, UINT64_MAX - entry.address));
  if (!entry.names_text) return {unnamed_text("kernel", entry.address), entry.address, limit};
  if (address >= end) return {unnamed_text("kernel", end), end, limit};
  std::string name(name_of(entry).substr(0, 4096));
  std::ranges::replace(name, '\t', ' ');
  return {std::move(name), entry.address, end};
}

}  // namespace pctally
