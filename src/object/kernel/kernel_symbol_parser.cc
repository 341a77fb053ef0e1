#include "object/kernel/kernel_symbol_parser.h"

#include <algorithm>
#include <charconv>
#include <tuple>

namespace pctally {
namespace {

constexpr size_t kLongestKernelName = 4096;
/// Room for a usual kernel; what stays unused is never touched.
constexpr size_t kUsualSymbols = 1 << 18;
constexpr size_t kUsualNames = 8 << 20;

/// Marks the linker script sets: "_etext", "__entry_text_end". They bound text and do not name it; functions
/// are called "__..._end", too.
bool is_bound(std::string_view name) {
  return name.ends_with("_etext") || name.ends_with("_einittext") || name.ends_with("text_end") ||
         name == "__init_end" || name == "__indirect_thunk_end";
}

bool is_text_type(char type) { return type == 't' || type == 'T' || type == 'w' || type == 'W'; }
bool is_global_type(char type) { return type == 'T' || type == 'W'; }

/// Text in brackets that is no module's comes and goes by itself.
bool is_of_module(std::string_view name) {
  return !name.ends_with("\t[bpf]") && name.find("\t[__builtin__") == std::string_view::npos;
}

std::span<const unsigned char> bytes_of(const void* data, size_t size) {
  return {static_cast<const unsigned char*>(data), size};
}

}  // namespace

KernelSymbolParser::KernelSymbolParser() {
  symbols_.reserve(kUsualSymbols);
  names_.reserve(kUsualNames);
}

void KernelSymbolParser::feed(std::string_view text) {
  if (!cut_.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    cut_ += text.substr(0, end);
    if (end == text.size()) return;
    add(std::exchange(cut_, {}));
    text.remove_prefix(end + 1);
  }
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    add(text.substr(0, end));
  }
  cut_ = text;
}

void KernelSymbolParser::finish() {
  add(std::exchange(cut_, {}));
  extent_.is_complete = 1;
  sort();
}

bool KernelSymbolParser::knows(uint64_t lowest, uint64_t highest) const {
  return is_complete() || (table().in_core(lowest) && table().in_core(highest));
}

KernelSymbolTable KernelSymbolParser::table() const {
  return {bytes_of(symbols_.data(), symbols_.size() * sizeof(KernelSymbol)),
          bytes_of(names_.data(), names_.size()), extent_};
}

/// "ffffffff81000000 T _text"
bool KernelSymbolParser::parse(std::string_view text, Line* line) {
  const char *begin = text.data(), *end = begin + text.size();
  const auto [rest, error] = std::from_chars(begin, end, line->address, 16);
  if (error != std::errc() || line->address == 0) return false;
  if (end - rest < 4 || rest[0] != ' ' || rest[2] != ' ') return false;
  line->type = rest[1];
  line->name = {rest + 3, std::min(static_cast<size_t>(end - rest - 3), kLongestKernelName)};
  line->is_core = line->name.find('\t') == std::string_view::npos;
  return true;
}

void KernelSymbolParser::add(std::string_view text) {
  Line line;
  if (!parse(text, &line)) return;
  follow_core(line);
  put(line);
}

/// What comes before the core lies below it, or the order means nothing.
void KernelSymbolParser::enter_core(const Line& line) {
  const bool above = std::ranges::is_sorted(symbols_, {}, &KernelSymbol::address) &&
                     (symbols_.empty() || symbols_.back().address <= line.address);
  core_ = above ? Core::kInside : Core::kBehind;
  if (above) extent_.core_start = extent_.core_end = line.address;
}

/// The core is sure as far as it ascends; something else amid it, and nothing is.
void KernelSymbolParser::follow_core(const Line& line) {
  if (core_ == Core::kBefore && (line.name == "_text" || line.name == "_stext")) enter_core(line);
  if (core_ == Core::kInside && line.is_core && line.address >= extent_.core_end) {
    extent_.core_end = line.address;
  } else if (core_ != Core::kBefore) {
    core_ = Core::kBehind;
    if (table().in_core(line.address)) extent_.core_end = extent_.core_start;
  }
}

void KernelSymbolParser::put(const Line& line) {
  const size_t names = names_.size();
  const KernelSymbol symbol = store(line);
  if (symbols_.empty() || symbols_.back().address != line.address) {
    symbols_.push_back(symbol);
  } else if (is_better(symbol, symbols_.back())) {
    symbols_.back() = symbol;
  } else {
    names_.resize(names);
  }
}

KernelSymbol KernelSymbolParser::store(const Line& line) {
  KernelSymbol symbol{line.address, static_cast<uint32_t>(names_.size())};
  symbol.is_global = is_global_type(line.type);
  symbol.of_module = !line.is_core && is_of_module(line.name);
  if (!is_text_type(line.type) || is_bound(line.name)) return symbol;
  symbol.length = static_cast<uint16_t>(line.name.size());
  names_ += line.name;
  if (!line.is_core) std::replace(names_.begin() + symbol.name, names_.end(), '\t', ' ');
  return symbol;
}

std::string_view KernelSymbolParser::name_of(const KernelSymbol& symbol) const {
  return std::string_view(names_).substr(symbol.name, symbol.length);
}

bool KernelSymbolParser::is_better(const KernelSymbol& a, const KernelSymbol& b) const {
  const auto rank = [this](const KernelSymbol& symbol) {
    const std::string_view name = name_of(symbol);
    return std::tuple(name.empty(), !symbol.is_global, name.find_first_not_of('_'), name.size(), name);
  };
  return rank(a) < rank(b);
}

bool KernelSymbolParser::is_before(const KernelSymbol& a, const KernelSymbol& b) const {
  return a.address != b.address ? a.address < b.address : is_better(a, b);
}

/// Only what follows the first descent is out of order: the modules.
void KernelSymbolParser::sort() {
  const auto before = [this](const KernelSymbol& a, const KernelSymbol& b) { return is_before(a, b); };
  const auto middle = std::ranges::is_sorted_until(symbols_, before);
  if (middle == symbols_.end()) return;
  std::sort(middle, symbols_.end(), before);
  std::inplace_merge(symbols_.begin(), middle, symbols_.end(), before);
  const auto aliases = std::ranges::unique(symbols_, {}, &KernelSymbol::address);
  symbols_.erase(aliases.begin(), aliases.end());
}

}  // namespace pctally
