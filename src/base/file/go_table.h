// The table of functions that Go's runtime keeps for its own stack traces (.gopclntab), for code of 8-byte
// pointers: where each starts, its name, how much it has on the stack. It stays where symbols are stripped.
// Go 1.18 and later: src/debug/gosym/pclntab.go, src/runtime/symtab.go.
//
//   | header | names | ... | runs of stack sizes | pairs of start and place | record of each function |
//
// The bytes may be hostile. Nothing is allocated; any thread, and a handler.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <span>
#include <string_view>

#include "base/file/byte_reader.h"

namespace pctally {

class GoTable {
 public:
  /// A program without this section is not of Go.
  static constexpr char kSign[] = ".go.buildinfo";
  /// Where the table may be: a linker of C puts it among other constants that it relocates, where the program
  /// may lie anywhere.
  static constexpr const char* kSections[] = {".gopclntab", ".data.rel.ro.gopclntab", ".data.rel.ro"};
  /// Where the relocations may be: by a linker of C, and by Go's.
  static constexpr const char* kRelocations[] = {".rela.dyn", ".rela"};

  /// The table somewhere in a section, which starts at `address` and must outlive the result. `relocations`
  /// (Elf64_Rela) say where the code starts, if the header does not. Nothing as parse().
  static std::optional<GoTable> in_section(std::span<const unsigned char> section, uint64_t address,
                                           std::span<const unsigned char> relocations) noexcept;
  /// `table`: from its first byte on, which must outlive the result. `text`: where the code starts, if the
  /// header does not say it; 0: not known. Nothing if it is of another version, or damaged.
  static std::optional<GoTable> parse(std::span<const unsigned char> table, uint64_t text) noexcept;

  [[nodiscard]] uint64_t functions() const noexcept { return count_; }
  /// The number of the function at an address; of several that start at one the last.
  [[nodiscard]] std::optional<uint64_t> find(uint64_t address) const noexcept;
  [[nodiscard]] uint64_t start(uint64_t number) const noexcept { return text_ + offset(number); }
  /// Where the next one starts.
  [[nodiscard]] uint64_t end(uint64_t number) const noexcept { return text_ + offset(number + 1); }
  /// "main.work"; empty if it cannot be read.
  [[nodiscard]] std::string_view name(uint64_t number) const noexcept;
  /// Nothing calls it: a goroutine or a thread starts there.
  [[nodiscard]] bool is_outermost(uint64_t number) const noexcept { return (flags(number) & 1) != 0; }
  /// It goes on on another stack.
  [[nodiscard]] bool writes_stack_pointer(uint64_t number) const noexcept { return (flags(number) & 2) != 0; }

  /// Calls visit(start, end, bytes) for the addresses of a function, ascending, with how many bytes lie there
  /// between the stack pointer and the return address; on aarch64, the caller's stack pointer. Not beyond
  /// what no compiler writes.
  template <class Visit>
  void visit_stack(uint64_t number, Visit&& visit) const {
    uint64_t at = 0, from = start(number);
    uint32_t value = UINT32_MAX, step = 0, length = 0;
    if (!find_stack(number, &at)) return;
    for (unsigned i = 0; i < kMostStackRuns && read_varint(&at, &step) && (step != 0 || i == 0); ++i) {
      value += (step >> 1) ^ (0 - (step & 1));
      if (!read_varint(&at, &length) || length == 0) return;
      const uint64_t bytes = uint64_t{length} * instruction_bytes_;
      if (bytes > end(number) - from) return;
      visit(from, from + bytes, static_cast<int32_t>(value));
      from += bytes;
    }
  }

 private:
  static constexpr unsigned kMostStackRuns = 1 << 15;  ///< of one function

  explicit GoTable(std::span<const unsigned char> table) noexcept : table_(table), bytes_(table) {}
  [[nodiscard]] bool is_sorted() const noexcept;
  [[nodiscard]] uint32_t word(uint64_t offset) const noexcept;
  [[nodiscard]] uint32_t offset(uint64_t number) const noexcept;
  [[nodiscard]] uint64_t place(uint64_t number) const noexcept;
  [[nodiscard]] uint8_t flags(uint64_t number) const noexcept;
  bool find_stack(uint64_t number, uint64_t* at) const noexcept;
  bool read_varint(uint64_t* at, uint32_t* value) const noexcept;

  ByteReader table_;
  std::span<const unsigned char> bytes_;
  uint64_t text_ = 0;               ///< address that starts are relative to
  uint64_t count_ = 0;              ///< of functions
  uint64_t names_ = 0;              ///< offsets in the table: of the first name,
  uint64_t runs_ = 0;               ///< of the runs,
  uint64_t functions_ = 0;          ///< of the pairs
  unsigned flags_at_ = 0;           ///< in a function's record
  unsigned instruction_bytes_ = 1;  ///< of the shortest instruction: the unit of a run's length
};

}  // namespace pctally
