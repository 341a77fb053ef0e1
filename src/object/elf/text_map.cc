#include "object/elf/text_map.h"

#include <elf.h>

#include <algorithm>

#include "object/elf/demangle.h"

namespace pctally {
namespace {

// A symbol's id: its table in the upper bits, its index in the lower.
constexpr unsigned kTableShift = 48;

uint64_t index_of(uint64_t id) { return id & ((uint64_t{1} << kTableShift) - 1); }

AddressRange intersection(AddressRange a, AddressRange b) {
  return {std::max(a.start, b.start), std::min(a.end, b.end)};
}

/// A symbol's range; `suffix` stands behind its name.
NamedRange named(std::string_view symbol, const char* suffix, AddressRange range) {
  NamedRange result{demangle(symbol).append(suffix), range.start, range.end};
  std::string linkage = std::string(symbol).append(suffix);
  if (linkage != result.function) result.linkage = std::move(linkage);
  return result;
}

/// The version in "realpath@@GLIBC_2.3" is not a part of the function's name.
SymbolName names_of(std::string_view symbol) {
  SymbolName result{demangle(symbol.substr(0, symbol.find('@')))};
  if (symbol != result.function) result.linkage = symbol;
  return result;
}

AddressRange range_of(const ElfSection& section) { return {section.address, section.address + section.size}; }

}  // namespace

TextMap::TextMap(const ElfFile& object, const ElfFile* debug, std::string label)
    : object_(object), label_(std::move(label)), plt_(object) {
  add_tables(object);
  if (debug != nullptr) add_tables(*debug);
}

void TextMap::add_tables(const ElfFile& file) {
  constexpr size_t kMostTables = 8;
  for (const ElfSection& section : file.sections()) {
    if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) continue;
    if (auto table = SymbolTable::open(file, section); table && tables_.size() < kMostTables) {
      tables_.push_back(std::move(*table));
    }
  }
}

std::vector<NamedRange> TextMap::name(std::span<const uint64_t> addresses) {
  Cover cover(addresses);
  add_symbols(&cover);
  cover.resolve([this](const Cover::Candidate& a, const Cover::Candidate& b) {
    return a.start != b.start ? a.start > b.start : better(a.id, b.id);
  });
  std::vector<NamedRange> result;
  result.reserve(addresses.size());
  const Cover::Candidate* last = nullptr;
  for (size_t i = 0; i < addresses.size(); i++) {
    const Cover::Candidate* winner = cover.winner(i);
    const bool same = i > 0 && winner == last && addresses[i] < result.back().end;
    result.push_back(same ? result.back() : range_at(addresses[i], winner, cover.cell(i)));
    last = winner;
  }
  return result;
}

std::vector<std::vector<SymbolName>> TextMap::aliases(std::span<const uint64_t> addresses) const {
  constexpr size_t kMost = 1 << 16;  // they can share the bytes of one long name
  std::vector<std::vector<SymbolName>> result(addresses.size());
  size_t count = 0;
  for (const SymbolTable& table : tables_) {
    for (size_t i = 0; i < table.size() && count < kMost; i++) {
      const auto symbol = table.code(i);
      if (!symbol) continue;
      const auto at = std::ranges::lower_bound(addresses, symbol->value);
      if (at == addresses.end() || *at != symbol->value) continue;
      result[static_cast<size_t>(at - addresses.begin())].push_back(names_of(table.name(i)));
      count++;
    }
  }
  return result;
}

NamedRange TextMap::range_at(uint64_t address, const Cover::Candidate* winner, AddressRange cell) {
  const std::string_view name = winner == nullptr ? std::string_view() : symbol_name(winner->id);
  if (!name.empty()) return named(name, "", {winner->start, winner->end});
  return without_symbol(address, intersection(cell, surroundings(address)));
}

void TextMap::add_symbols(Cover* cover) {
  labels_.clear();
  labels_sorted_ = false;
  for (size_t table = 0; table < tables_.size(); table++) {
    for (size_t i = 0; i < tables_[table].size(); i++) {
      if (auto symbol = tables_[table].code(i))
        add_symbol(cover, *symbol, uint64_t{table} << kTableShift | i);
    }
  }
}

void TextMap::add_symbol(Cover* cover, const Symbol& symbol, uint64_t id) {
  const ElfSection* section = section_at(symbol.value);
  if (section == nullptr) return;
  const uint64_t room = range_of(*section).end - symbol.value;
  if (symbol.size == 0) {
    labels_.push_back({symbol.value, id});
  } else {
    cover->add(symbol.value, symbol.value + std::min(symbol.size, room), id);
  }
}

const ElfSection* TextMap::section_at(uint64_t address) const {
  const auto next = std::ranges::upper_bound(object_.text(), address, {}, &ElfSection::address);
  if (next == object_.text().begin() || !range_of(*(next - 1)).contains(address)) return nullptr;
  return &*(next - 1);
}

/// The section an address lies in, or the space between two sections.
AddressRange TextMap::surroundings(uint64_t address) const {
  const std::vector<ElfSection>& text = object_.text();
  const auto next = std::ranges::upper_bound(text, address, {}, &ElfSection::address);
  AddressRange space{0, next == text.end() ? UINT64_MAX : next->address};
  if (next != text.begin()) {
    const AddressRange range = range_of(*(next - 1));
    if (range.contains(address)) return range;
    space.start = range.end;
  }
  for (const ElfSegment& segment : object_.segments()) {
    const AddressRange range{segment.address, segment.address + segment.memory_size};
    if (segment.type == PT_LOAD && range.contains(address)) return intersection(space, range);
  }
  return space;
}

Symbol TextMap::symbol(uint64_t id) const {
  return tables_[id >> kTableShift].code(index_of(id)).value_or(Symbol{});
}

std::string_view TextMap::symbol_name(uint64_t id) const {
  return tables_[id >> kTableShift].name(index_of(id));
}

bool TextMap::better(uint64_t a, uint64_t b) const {
  if (names_better(symbol(a), symbol_name(a), symbol(b), symbol_name(b))) return true;
  return a < b && !names_better(symbol(b), symbol_name(b), symbol(a), symbol_name(a));
}

void TextMap::sort_labels() {
  if (labels_sorted_) return;
  labels_sorted_ = true;
  std::ranges::sort(labels_, [this](const Label& a, const Label& b) {
    return a.value != b.value ? a.value < b.value : better(a.id, b.id);
  });
  const auto aliases = std::ranges::unique(labels_, {}, &Label::value);
  labels_.erase(aliases.begin(), aliases.end());
}

NamedRange TextMap::without_symbol(uint64_t address, AddressRange gap) {
  const ElfSection* section = section_at(address);
  if (section == nullptr) return unnamed(gap);
  return Plt::is_stub_section(*section) ? in_stubs(*section, address, gap) : in_gap(address, gap);
}

NamedRange TextMap::in_stubs(const ElfSection& section, uint64_t address, AddressRange gap) {
  const AddressRange stub = plt_.stub(section, address);
  const AddressRange range = intersection(gap, stub);
  const std::string target = plt_.target(stub);
  return target.empty() ? unnamed(range) : named(target, "@plt", range);
}

/// A label without a size reaches to the next label and not beyond the function of .eh_frame it stands in, or
/// the gap between two. Where Go's runtime has a name, the text has it too.
NamedRange TextMap::in_gap(uint64_t address, AddressRange gap) {
  if (!gap_tables_read_) {
    eh_frame_ = EhFrame::open(object_);
    go_functions_ = GoFunctions::open(object_);
    gap_tables_read_ = true;
  }
  if (const auto function = go_functions_ ? go_functions_->find(address) : std::nullopt)
    return {std::string(function->name), std::max(gap.start, function->range.start),
            std::min(gap.end, function->range.end)};
  const EhFrame::Range entry = eh_frame_ ? eh_frame_->find(address) : EhFrame::Range{gap};
  if (entry.is_trampoline) return in_trampoline(entry.range, gap);
  AddressRange range = intersection(gap, entry.range);
  sort_labels();
  const auto next = std::ranges::upper_bound(labels_, address, {}, &Label::value);
  if (next != labels_.end()) range.end = std::min(range.end, next->value);
  if (next == labels_.begin()) return unnamed(range);
  const Label& label = *(next - 1);
  const std::string_view name = symbol_name(label.id);
  if (label.value < range.start || name.empty()) return unnamed(range);
  return named(name, "", {label.value, range.end});
}

/// Its unwind entry begins a byte before its code, as unwinders ask for the byte before a return address:
/// the symbol comes behind the gap.
NamedRange TextMap::in_trampoline(AddressRange entry, AddressRange gap) const {
  const AddressRange range = intersection(gap, entry);
  const uint64_t code = entry.start + 1;
  std::vector<SymbolName> symbols = aliases({&code, 1}).front();
  if (symbols.empty()) return {"[signal trampoline]", range.start, range.end};
  return {std::move(symbols[0].function), range.start, range.end, std::move(symbols[0].linkage)};
}

NamedRange TextMap::unnamed(AddressRange range) const {
  return {unnamed_text(label_, range.start), range.start, range.end};
}

std::string unnamed_text(const std::string& label, uint64_t start) {
  char number[24];
  snprintf(number, sizeof number, "+0x%llx]", static_cast<unsigned long long>(start));
  return "[" + label + number;
}

}  // namespace pctally
