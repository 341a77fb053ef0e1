#include "object/kernel/kernel_symbol_table.h"

#include <algorithm>

#include "base/page.h"
#include "object/elf/text_map.h"

namespace pctally {
namespace {

/// The last function of a region has no next symbol to end it.
constexpr uint64_t kLongestFunction = 64 << 10;

}  // namespace

bool KernelSymbolTable::in_core(uint64_t address) const {
  return address >= extent_.core_start && address < extent_.core_end;
}

bool KernelSymbolTable::in_module(uint64_t address) const {
  const size_t next = first_above(address);
  return extent_.is_complete != 0 &&
         ((next > 0 && is_module_page(next - 1, address)) || is_module_page(next, address));
}

/// Modules and everything else that comes and goes are given whole pages.
bool KernelSymbolTable::is_module_page(size_t index, uint64_t address) const {
  const KernelSymbol symbol = at(index);
  return symbol.of_module != 0 && page_start(symbol.address) == page_start(address);
}

KernelSymbol KernelSymbolTable::at(size_t index) const {
  KernelSymbol symbol;
  if (index >= count() || !symbols_.read(index * sizeof symbol, &symbol)) return {};
  return symbol;
}

/// Ends even if the symbols are not in order, and then too between one not above and one above.
size_t KernelSymbolTable::first_above(uint64_t address) const {
  size_t first = 0;
  for (size_t last = count(); first < last;) {
    const size_t middle = first + (last - first) / 2;
    if (at(middle).address > address) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

/// Outside the core code comes and goes, of BPF programs, traces and modules: where it began is not known.
std::string KernelSymbolTable::unnamed(uint64_t start) const {
  const bool is_outside = extent_.core_end > extent_.core_start && !in_core(start);
  return is_outside ? "[kernel code without a symbol]" : unnamed_text("kernel", start);
}

NamedRange KernelSymbolTable::range_at(uint64_t address) const {
  const size_t next = first_above(address);
  const uint64_t limit = next == count() ? UINT64_MAX : at(next).address;
  if (next == 0) return {"[kernel]", 0, limit};
  const KernelSymbol symbol = at(next - 1);
  const auto name = names_.slice(symbol.name, symbol.length);
  if (name.empty()) return {unnamed(symbol.address), symbol.address, limit};
  const uint64_t longest = std::min(kLongestFunction, UINT64_MAX - symbol.address);
  const uint64_t end = std::min(limit, symbol.address + longest);
  if (address >= end) return {unnamed(end), end, limit};
  return {std::string(name.begin(), name.end()), symbol.address, end};
}

std::vector<NamedRange> KernelSymbolTable::name(std::span<const uint64_t> addresses) const {
  std::vector<NamedRange> result;
  result.reserve(addresses.size());
  for (uint64_t address : addresses) {
    const bool same = !result.empty() && address < result.back().end;
    result.push_back(same ? result.back() : range_at(address));
  }
  return result;
}

}  // namespace pctally
