#include "object/dwarf/dwarf_names.h"

#include <dwarf.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "object/elf/demangle.h"

namespace pctally {
namespace {

/// A string of this DIE alone.
const char* own_string(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute attribute;
  return dwarf_attr(die, name, &attribute) == nullptr ? nullptr : dwarf_formstring(&attribute);
}

bool is_external(Dwarf_Die* die) {
  Dwarf_Attribute attribute;
  bool external = false;
  return dwarf_attr(die, DW_AT_external, &attribute) != nullptr &&
         dwarf_formflag(&attribute, &external) == 0 && external;
}

bool is_cpp(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  constexpr int kCpp17 = 0x2b, kCpp20 = 0x3a;  // <dwarf.h> may lack them
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case kCpp17:
    case kCpp20:
      return true;
    default:
      return false;
  }
}

std::string unnamed_type(Dwarf_Die* type, std::string_view member) {
  const bool is_lambda = member == "operator()" || member == "_FUN";
  std::string text = is_lambda ? "{lambda" : "{unnamed type";
  if (Dwarf_Word line = 0; own_number(type, DW_AT_decl_line, &line))
    text.append(":").append(std::to_string(line));
  return text.append("}");
}

bool is_scope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool follow(Dwarf_Die* die, unsigned attribute) {
  Dwarf_Attribute reference;
  Dwarf_Die target;
  if (dwarf_attr(die, attribute, &reference) == nullptr || dwarf_formref_die(&reference, &target) == nullptr)
    return false;
  *die = target;
  return true;
}

bool own_number(Dwarf_Die* die, unsigned attribute, Dwarf_Word* value) {
  Dwarf_Attribute number;
  return dwarf_attr(die, attribute, &number) != nullptr && dwarf_formudata(&number, value) == 0;
}

DwarfName DwarfNames::name(const Dwarf_Die& function, unsigned functions_around) {
  Dwarf_Die die = function;
  const char* plain = nullptr;
  bool external = false;
  for (unsigned step = 0; step < kLongestWay; step++) {
    for (unsigned attribute : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
      const char* linkage = own_string(&die, attribute);
      if (linkage == nullptr) continue;
      DwarfName name{demangle(linkage), {}};
      if (name.function != linkage) name.linkage = std::string(linkage).substr(0, kLongestName);
      return name;
    }
    if (plain == nullptr) plain = own_string(&die, DW_AT_name);
    external = external || is_external(&die);
    if (!follow(&die, DW_AT_abstract_origin) && !follow(&die, DW_AT_specification)) break;
  }
  if (plain == nullptr) return {};
  const std::string bare = std::string(plain).substr(0, kLongestName);
  if (external || !is_cpp(function)) return {bare, {}};
  const std::string scopes = scopes_of(die, bare, functions_around);
  if (scopes.empty()) return {bare, {}, true};
  return {(scopes + bare).substr(0, kLongestName), bare, true};
}

/// Each with "::" behind it.
std::string DwarfNames::scopes_of(Dwarf_Die declaration, std::string_view member, unsigned functions_around) {
  Dwarf_Die unit;
  if (dwarf_diecu(&declaration, &unit, nullptr, nullptr) == nullptr) return {};
  const Scopes& scopes = scopes_in(unit);
  const std::less<> before;
  const auto behind = std::partition_point(scopes.begin(), scopes.end(), [&](const Scope& scope) {
    return before(scope.die.addr, declaration.addr);
  });
  std::vector<Dwarf_Die> around;
  for (auto i = static_cast<uint32_t>(behind - scopes.begin()) - 1; i != kNone; i = scopes[i].parent)
    if (!before(scopes[i].last, declaration.addr)) around.push_back(scopes[i].die);
  std::string text;
  for (auto die = around.rbegin(); die != around.rend() && text.size() < kLongestName; ++die)
    if (std::string name = scope_name(*die, member, functions_around); !name.empty())
      text.append(name).append("::");
  return text;
}

/// The name of a DIE of is_scope(). Empty if that is not known.
std::string DwarfNames::scope_name(Dwarf_Die die, std::string_view member, unsigned functions_around) {
  constexpr unsigned kMostFunctions = 4;  // around one another; they may be a circle
  if (dwarf_tag(&die) == DW_TAG_subprogram)
    return functions_around == kMostFunctions ? std::string() : name(die, functions_around + 1).function;
  if (const char* name = own_string(&die, DW_AT_name)) return std::string(name).substr(0, kLongestName);
  return dwarf_tag(&die) == DW_TAG_namespace ? "(anonymous namespace)" : unnamed_type(&die, member);
}

const DwarfNames::Scopes& DwarfNames::scopes_in(const Dwarf_Die& unit) {
  const auto [known, fresh] = units_.try_emplace(unit.addr);
  Dwarf_Die top = unit;
  const void* last = unit.addr;
  if (fresh) walk(&top, kNone, 0, &last, &known->second);
  return known->second;
}

/// `last` is the DIE visited last: a walk goes forward only, also where siblings of malformed units lead
/// back.
void DwarfNames::walk(Dwarf_Die* parent, uint32_t around, unsigned depth, const void** last, Scopes* scopes) {
  constexpr unsigned kDeepest = 64;
  constexpr size_t kMostScopes = 1 << 20;
  Dwarf_Die die;
  if (depth == kDeepest || scopes->size() >= kMostScopes || dwarf_child(parent, &die) != 0) return;
  do {
    if (!std::less<>()(*last, die.addr)) return;
    *last = die.addr;
    const int tag = dwarf_tag(&die);
    if (!dwarf_haschildren(&die) || (!is_scope(tag) && tag != DW_TAG_lexical_block)) continue;
    uint32_t inside = around;
    if (is_scope(tag)) {
      inside = static_cast<uint32_t>(scopes->size());
      scopes->push_back({die, around, die.addr});
    }
    walk(&die, inside, depth + 1, last, scopes);
    if (is_scope(tag)) (*scopes)[inside].last = *last;
  } while (dwarf_siblingof(&die, &die) == 0);
}

}  // namespace pctally
