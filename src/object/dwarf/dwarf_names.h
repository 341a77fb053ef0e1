// Names of functions as debug information has them.
#pragma once
#include <elfutils/libdw.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pctally {

struct DwarfName {
  std::string function;   ///< demangled, or with its scopes in front; empty if it has no name
  std::string linkage;    ///< the symbol, or the bare name behind the scopes; empty if that is `function`
  bool is_local = false;  ///< of C++, without a linkage name: its symbol, if it has one, is not known
};

/// The names of functions in units of one file, while libdw keeps it open. Not thread-safe.
class DwarfNames {
 public:
  /// The linkage name on the way from a concrete function to its declaration, else the first plain name. The
  /// way may be a circle. Names and depth are capped: the file is not trusted.
  ///
  /// GCC gives no linkage name to what other units cannot see: functions in anonymous namespaces, static
  /// ones, methods of local classes, lambdas. In a C++ unit the scopes around the declaration stand before
  /// such a name, as the demangler writes them: "(anonymous namespace)::Table::find". A lambda has the line
  /// that it begins at: "main::{lambda:18}::operator()". What is extern "C" keeps its plain name.
  DwarfName name(const Dwarf_Die& function) { return name(function, 0); }

  /// Has to be called before libdw gives its memory back.
  void forget() { units_.clear(); }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// A DIE whose name stands before the names of what it holds.
  struct Scope {
    Dwarf_Die die;
    uint32_t parent = kNone;     ///< below the scope's own index, so that every chain ends
    const void* last = nullptr;  ///< the last DIE that it holds
  };
  using Scopes = std::vector<Scope>;  ///< of a unit, by address

  DwarfName name(const Dwarf_Die& function, unsigned functions_around);
  std::string scopes_of(Dwarf_Die declaration, std::string_view member, unsigned functions_around);
  std::string scope_name(Dwarf_Die die, std::string_view member, unsigned functions_around);
  const Scopes& scopes_in(const Dwarf_Die& unit);
  static void walk(Dwarf_Die* parent, uint32_t around, unsigned depth, const void** last, Scopes* scopes);

  std::unordered_map<const void*, Scopes> units_;
};

/// Makes of a DIE the one that it names by that attribute. False, and unchanged, if there is none.
bool follow(Dwarf_Die* die, unsigned attribute);

/// A number of this DIE alone; dwarf_attr_integrate() would follow references its own way.
bool own_number(Dwarf_Die* die, unsigned attribute, Dwarf_Word* value);

inline constexpr unsigned kLongestWay = 16;  ///< from a concrete function to its declaration

}  // namespace pctally
