#include "report/prof/prof_functions.h"

#include <elf.h>

#include <algorithm>
#include <map>

#include "object/elf/demangle.h"
#include "object/elf/symbol_table.h"

namespace pctally {
namespace {

struct Synonyms {
  uint64_t size = 0;
  std::vector<std::string> exported;
  std::vector<std::string> local;
};

void add_table(const ElfFile& a_out, const ElfSection& section, std::map<uint64_t, Synonyms>* starts) {
  auto table = SymbolTable::open(a_out, section);
  for (size_t i = 0; table && i < table->size(); ++i) {
    auto symbol = table->code(i);
    if (!symbol || !symbol->is_function) continue;
    Synonyms& synonyms = (*starts)[symbol->value];
    synonyms.size = std::max(synonyms.size, symbol->size);
    (symbol->exported ? synonyms.exported : synonyms.local).emplace_back(table->name(i));
  }
}

std::vector<std::string> in_order(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

/// A file may claim any size.
uint64_t end_of(uint64_t start, uint64_t size) { return start + std::min(size, UINT64_MAX - start); }

uint64_t end_of_section(const ElfFile& a_out, uint64_t address) {
  for (const ElfSection& section : a_out.text())
    if (address - section.address < section.size) return end_of(section.address, section.size);
  return end_of(address, 1);
}

}  // namespace

ProfFunctions::ProfFunctions(std::vector<ProfFunction> functions) : functions_(std::move(functions)) {}

ProfFunctions ProfFunctions::of(const ElfFile& a_out, bool demangled) {
  std::map<uint64_t, Synonyms> starts;
  for (uint32_t type : {SHT_SYMTAB, SHT_DYNSYM})
    for (const ElfSection& section : a_out.sections())
      if (section.type == type && (type == SHT_SYMTAB || starts.empty())) add_table(a_out, section, &starts);
  std::vector<ProfFunction> functions;
  for (auto at = starts.begin(); at != starts.end(); ++at) {
    auto next = std::next(at);
    auto& [start, synonyms] = *at;
    uint64_t end = synonyms.size != 0 ? end_of(start, synonyms.size) : end_of_section(a_out, start);
    if (next != starts.end()) end = std::min(end, next->first);
    ProfFunction function{.start = start, .end = end, .names = in_order(std::move(synonyms.exported))};
    function.is_static = function.names.empty();
    for (std::string& name : in_order(std::move(synonyms.local))) function.names.push_back(std::move(name));
    for (std::string& name : function.names)
      if (demangled) name = demangle(name);
    functions.push_back(std::move(function));
  }
  return ProfFunctions(std::move(functions));
}

void ProfFunctions::add(const TextHistogram& histogram) {
  for (size_t i = 0; i < histogram.counts.size(); ++i)
    if (histogram.counts[i] != 0) share(histogram.start(i), histogram.start(i + 1), histogram.counts[i]);
}

void ProfFunctions::share(uint64_t low, uint64_t high, uint64_t ticks) {
  auto first = std::ranges::upper_bound(functions_, low, {}, &ProfFunction::end);
  auto behind = first;
  auto covered = [&](const ProfFunction& function) {
    uint64_t from = std::max(low, function.start), to = std::min(high, function.end);
    return from < to ? static_cast<double>(to - from) : 0;
  };
  double named = 0;
  for (; behind != functions_.end() && behind->start < high; ++behind) named += covered(*behind);
  if (named == 0) unnamed_ticks_ += static_cast<double>(ticks);
  for (auto function = first; named > 0 && function != behind; ++function)
    function->ticks += static_cast<double>(ticks) * covered(*function) / named;
}

void ProfFunctions::add(const CallCount& calls) {
  auto function = std::ranges::upper_bound(functions_, calls.address, {}, &ProfFunction::end);
  if (function != functions_.end() && function->start <= calls.address) function->calls += calls.calls;
}

}  // namespace pctally
