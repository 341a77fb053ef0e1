// Finds the functions that were inlined into one another around an address of one unit. Built for a whole
// unit at once, because one walk over its DIEs costs what a few look-ups by libdw do.
#pragma once
#include <elfutils/libdw.h>

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "object/dwarf/dwarf_line.h"
#include "object/dwarf/dwarf_names.h"
#include "object/dwarf/interval_map.h"

namespace pctally {

class DwarfInline {
 public:
  /// A function around an address, and where it was called from if it was inlined there.
  struct Call {
    const std::string* function = nullptr;  ///< as of DwarfName
    const std::string* linkage = nullptr;   ///< as of DwarfName
    SourceLine call;
    SourceLine start;   ///< where the function is declared
    uint64_t copy = 0;  ///< of one that is_local and inlined here: where its own code is; 0: it may have none
  };

  /// Walks the unit. Ranges outside `text` are ignored. REQUIRES: `names` outlives this.
  DwarfInline(Dwarf_Die unit, AddressRange text, DwarfNames* names);

  /// Innermost first; empty if no function of the unit holds the address. The pointers live until
  /// the next call.
  std::vector<Call> calls(uint64_t address);

  /// Functions, the inlined ones too.
  [[nodiscard]] size_t functions() const { return nodes_.size(); }

 private:
  static constexpr unsigned kDeepest = 512;  ///< nested DIEs; a walk is a recursion
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Node {
    Dwarf_Die die;
    uint32_t parent = kNone;  ///< below the node's own index, so that every chain ends
    uint32_t name = kNone;    ///< index into names_ once it was asked for
  };
  void walk(Dwarf_Die* parent, uint32_t node, unsigned depth);
  void visit(Dwarf_Die* die, uint32_t node, unsigned depth);
  uint32_t add(Dwarf_Die* die, uint32_t parent);
  struct Name {
    DwarfName name;
    SourceLine start;
    uint64_t copy = 0;
  };
  static SourceLine start_of(Dwarf_Die die);
  const Name& name_of(Node* node);
  uint32_t find_name(const Node& node);
  uint64_t copy_of(const Node& node);
  void find_copies();
  static SourceLine call_site(Dwarf_Die* die);

  AddressRange text_;
  DwarfNames& dwarf_names_;
  const void* last_ = nullptr;  ///< the DIE visited last: a walk goes forward only
  std::vector<Node> nodes_;
  std::vector<Name> names_;
  /// Indices into names_, by the DIE that inlined code comes from: one function is inlined in many places.
  std::unordered_map<const void*, uint32_t> names_of_inlined_;
  /// Where functions start, by the DIE that they come from; made when first needed.
  std::optional<std::unordered_map<const void*, uint64_t>> copies_;
  IntervalMap intervals_;
};

}  // namespace pctally
