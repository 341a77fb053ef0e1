// The functions of an a.out as prof(1) lists them, and what belongs to each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "monfile/read/text_histogram.h"
#include "object/elf/elf_file.h"

namespace pctally {

struct ProfFunction {
  uint64_t start = 0;
  uint64_t end = 0;  ///< the first address behind; without a size in the symbol table, the next function
  std::vector<std::string> names;  ///< more than one for synonyms, the global ones first
  bool is_static = false;          ///< none of its names is global
  double ticks = 0;                ///< fractions where a counter covers several functions
  uint64_t calls = 0;
};

class ProfFunctions {
 public:
  explicit ProfFunctions(std::vector<ProfFunction> functions);
  /// Names as in the symbol table, or demangled.
  static ProfFunctions of(const ElfFile& a_out, bool demangled);

  /// Every counter's ticks, to the functions it covers in proportion to the bytes. Text without a function
  /// takes part only where there is nothing else.
  void add(const TextHistogram& histogram);
  /// Calls of no function are dropped: they have a name in no listing.
  void add(const CallCount& calls);

  [[nodiscard]] const std::vector<ProfFunction>& all() const { return functions_; }
  [[nodiscard]] double unnamed_ticks() const { return unnamed_ticks_; }

 private:
  void share(uint64_t low, uint64_t high, uint64_t ticks);

  std::vector<ProfFunction> functions_;  ///< ascending and disjoint
  double unnamed_ticks_ = 0;
};

}  // namespace pctally
