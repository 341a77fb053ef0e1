// From the text of /proc/kallsyms to a table, piece by piece, so that reading may stop when what is wanted is
// known. Refuses nothing: lines that are not of its form are skipped.
//
//   ffffffff81000000 T _text                 the core, ascending
//   ffffffffc0001000 t init<TAB>[module]     modules, in no order; then [bpf], [__builtin__ftrace], ...
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "object/kernel/kernel_symbol_table.h"

namespace pctally {

class KernelSymbolParser {
 public:
  KernelSymbolParser();
  /// Takes the next piece; lines may be cut anywhere.
  void feed(std::string_view text);
  /// There are no more pieces.
  void finish();

  [[nodiscard]] bool is_empty() const { return symbols_.empty(); }
  [[nodiscard]] bool is_complete() const { return extent_.is_complete != 0; }
  /// Whether every address from `lowest` to `highest` is sure now.
  [[nodiscard]] bool knows(uint64_t lowest, uint64_t highest) const;
  /// Valid until the next call of feed() or finish(). Before finish() it is to be asked only for
  /// what is known.
  [[nodiscard]] KernelSymbolTable table() const;

 private:
  enum class Core { kBefore, kInside, kBehind };
  struct Line {
    uint64_t address = 0;
    char type = 0;
    bool is_core = true;
    std::string_view name;
  };
  static bool parse(std::string_view text, Line* line);
  void add(std::string_view text);
  void enter_core(const Line& line);
  void follow_core(const Line& line);
  void put(const Line& line);
  KernelSymbol store(const Line& line);
  [[nodiscard]] std::string_view name_of(const KernelSymbol& symbol) const;
  [[nodiscard]] bool is_better(const KernelSymbol& a, const KernelSymbol& b) const;
  [[nodiscard]] bool is_before(const KernelSymbol& a, const KernelSymbol& b) const;
  void sort();

  std::vector<KernelSymbol> symbols_;
  std::string names_;
  std::string cut_;  ///< the beginning of a line whose end is in the next piece
  KernelSymbolExtent extent_;
  Core core_ = Core::kBefore;
};

}  // namespace pctally
