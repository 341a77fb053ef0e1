// Names for the text of one object. Every address of its executable sections has one, and text nobody names
// has a range of its own: it is never given to the symbol before it.
//
//   .text  | sized symbol | alias | gap (.eh_frame function, bare label, function of Go, padding) | sized
//   symbol |
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "object/elf/cover.h"
#include "object/elf/eh_frame.h"
#include "object/elf/elf_file.h"
#include "object/elf/frame.h"
#include "object/elf/go_functions.h"
#include "object/elf/plt.h"
#include "object/elf/symbol_table.h"

namespace pctally {

class TextMap {
 public:
  /// `debug` is the object's separate debug file, or null; only its symbols are used. Both must outlive the
  /// TextMap. `label` names the object in "[label+0x...]".
  TextMap(const ElfFile& object, const ElfFile* debug, std::string label);

  /// One result per ObjectAddress (ascending); the ranges are in ObjectAddresses too. Where symbols overlap
  /// the one that starts last names the text. The range of a symbol is the whole symbol.
  std::vector<NamedRange> name(std::span<const uint64_t> addresses);

  /// All symbols that start at these ObjectAddresses (ascending).
  [[nodiscard]] std::vector<std::vector<SymbolName>> aliases(std::span<const uint64_t> addresses) const;

  /// Takes the symbols of another file of the object, too: for names asked for from now on. It must outlive
  /// the TextMap.
  void add_tables(const ElfFile& file);

 private:
  struct Label {
    uint64_t value = 0;
    uint64_t id = 0;
  };
  void add_symbols(Cover* cover);
  void add_symbol(Cover* cover, const Symbol& symbol, uint64_t id);
  [[nodiscard]] const ElfSection* section_at(uint64_t address) const;
  [[nodiscard]] AddressRange surroundings(uint64_t address) const;
  [[nodiscard]] Symbol symbol(uint64_t id) const;
  [[nodiscard]] std::string_view symbol_name(uint64_t id) const;
  [[nodiscard]] bool better(uint64_t a, uint64_t b) const;
  void sort_labels();
  NamedRange range_at(uint64_t address, const Cover::Candidate* winner, AddressRange cell);
  NamedRange without_symbol(uint64_t address, AddressRange gap);
  NamedRange in_stubs(const ElfSection& section, uint64_t address, AddressRange gap);
  NamedRange in_gap(uint64_t address, AddressRange gap);
  [[nodiscard]] NamedRange in_trampoline(AddressRange entry, AddressRange gap) const;
  [[nodiscard]] NamedRange unnamed(AddressRange range) const;

  const ElfFile& object_;
  std::string label_;
  std::vector<SymbolTable> tables_;
  std::vector<Label> labels_;  ///< symbols without a size, one per address, ascending once sorted
  bool labels_sorted_ = false;
  Plt plt_;
  bool gap_tables_read_ = false;
  std::optional<EhFrame> eh_frame_;
  std::optional<GoFunctions> go_functions_;
};

/// "[label+0xstart]"
std::string unnamed_text(const std::string& label, uint64_t start);

}  // namespace pctally
