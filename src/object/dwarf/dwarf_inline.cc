#include "object/dwarf/dwarf_inline.h"

#include <dwarf.h>

#include <functional>

#include "object/dwarf/dwarf_file.h"
#include "object/dwarf/dwarf_names.h"

namespace pctally {
namespace {

constexpr unsigned kGnuDiscriminator = 0x2136;  ///< DW_AT_GNU_discriminator, of LLVM; <dwarf.h> lacks it

/// DIEs under which functions with code are found.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:  // and parts of types: methods of Rust's enums
    case DW_TAG_variant_part:
    case DW_TAG_variant:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
      return true;
    default:
      return false;
  }
}

/// The name of the file with that number in the table of the DIE's unit; null if there is none.
const char* own_file(Dwarf_Die* die, unsigned name) {
  Dwarf_Word number = 0;
  Dwarf_Die unit;
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  const bool known = own_number(die, name, &number) && dwarf_diecu(die, &unit, nullptr, nullptr) != nullptr &&
                     dwarf_getsrcfiles(&unit, &files, &count) == 0 && number < count;
  return known ? dwarf_filesrc(files, number, nullptr, nullptr) : nullptr;
}

}  // namespace

DwarfInline::DwarfInline(Dwarf_Die unit, AddressRange text, DwarfNames* names)
    : text_(text), dwarf_names_(*names) {
  last_ = unit.addr;
  walk(&unit, kNone, 0);
  intervals_.flatten();
}

void DwarfInline::walk(Dwarf_Die* parent, uint32_t node, unsigned depth) {
  Dwarf_Die die;
  if (depth == kDeepest || dwarf_child(parent, &die) != 0) return;
  do {
    // Sibling references of malformed units may lead backwards, for ever.
    if (!std::less<>()(last_, die.addr)) return;
    last_ = die.addr;
    visit(&die, node, depth);
  } while (dwarf_siblingof(&die, &die) == 0);
}

void DwarfInline::visit(Dwarf_Die* die, uint32_t node, unsigned depth) {
  const int tag = dwarf_tag(die);
  if (!may_hold_functions(tag)) return;
  if (tag == DW_TAG_subprogram) node = add(die, kNone);
  if (tag == DW_TAG_inlined_subroutine) node = add(die, node);
  walk(die, node, depth + 1);
}

uint32_t DwarfInline::add(Dwarf_Die* die, uint32_t parent) {
  if (nodes_.size() >= IntervalMap::kMostIntervals) return kNone;
  const auto node = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back({*die, parent});
  constexpr uint64_t kMostRanges = 1 << 16;  // of a function
  add_ranges(die, text_, node, &intervals_, kMostRanges);
  return node;
}

std::vector<DwarfInline::Call> DwarfInline::calls(uint64_t address) {
  std::vector<uint32_t> chain;
  for (uint32_t node = intervals_.find(address).value_or(kNone); node != kNone; node = nodes_[node].parent) {
    chain.push_back(node);
    name_of(&nodes_[node]);
  }
  std::vector<Call> result;
  for (uint32_t node : chain) {
    const Name& name = name_of(&nodes_[node]);
    result.push_back(
        {&name.name.function, &name.name.linkage, call_site(&nodes_[node].die), name.start, name.copy});
  }
  return result;
}

/// The place of the definition. A compiler leaves out of it what is as in the declaration, so that each part
/// is found by itself.
SourceLine DwarfInline::start_of(Dwarf_Die die) {
  SourceLine start;
  Dwarf_Word line = 0;
  for (unsigned step = 0; step < kLongestWay; step++) {
    if (start.line == 0 && own_number(&die, DW_AT_decl_line, &line)) start.line = static_cast<uint32_t>(line);
    if (start.file == nullptr) start.file = own_file(&die, DW_AT_decl_file);
    if (start.line != 0 && start.file != nullptr) break;
    if (!follow(&die, DW_AT_abstract_origin) && !follow(&die, DW_AT_specification)) break;
  }
  return start;
}

const DwarfInline::Name& DwarfInline::name_of(Node* node) {
  if (node->name == kNone) node->name = find_name(*node);
  return names_[node->name];
}

uint32_t DwarfInline::find_name(const Node& node) {
  const auto next = static_cast<uint32_t>(names_.size());
  Dwarf_Die origin = node.die;
  if (node.parent != kNone && follow(&origin, DW_AT_abstract_origin)) {
    const auto [known, fresh] = names_of_inlined_.try_emplace(origin.addr, next);
    if (!fresh) return known->second;
  }
  Name name{dwarf_names_.name(node.die), start_of(node.die)};
  if (name.name.is_local && node.parent != kNone) name.copy = copy_of(node);
  names_.push_back(std::move(name));
  return next;
}

/// Inlined code and the function's own come from one DIE, which has no code.
uint64_t DwarfInline::copy_of(const Node& node) {
  if (!copies_) find_copies();
  Dwarf_Die origin = node.die;
  if (!follow(&origin, DW_AT_abstract_origin)) return 0;
  const auto found = copies_->find(origin.addr);
  return found == copies_->end() ? 0 : found->second;
}

void DwarfInline::find_copies() {
  copies_.emplace();
  for (const Node& node : nodes_) {
    Dwarf_Die origin = node.die;
    Dwarf_Addr base = 0, start = 0, end = 0;
    if (node.parent == kNone && dwarf_ranges(&origin, 0, &base, &start, &end) > 0 &&
        follow(&origin, DW_AT_abstract_origin))
      copies_->emplace(origin.addr, start);
  }
}

SourceLine DwarfInline::call_site(Dwarf_Die* die) {
  SourceLine site;
  Dwarf_Word line = 0;
  if (own_number(die, DW_AT_call_line, &line)) site.line = static_cast<uint32_t>(line);
  Dwarf_Word discriminator = 0;
  if (own_number(die, kGnuDiscriminator, &discriminator))
    site.discriminator = static_cast<uint32_t>(discriminator);
  site.file = own_file(die, DW_AT_call_file);
  return site;
}

}  // namespace pctally
