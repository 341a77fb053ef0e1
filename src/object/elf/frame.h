// The names of a position in an object: its source frames, and the named range it lies in. Plain values.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace pctally {

/// One source-level frame at a position: innermost first when a function was inlined.
struct Frame {
  std::string function;     ///< demangled
  std::string file;         ///< empty if unknown
  uint32_t line = 0;        ///< 0 if unknown
  std::string linkage{};    ///< the symbol that `function` is the demangled form of; the last part of
                            ///< `function`, if it has scopes and no symbol; empty if that is the same
  uint32_t start_line = 0;  ///< where the function is declared, in `file`; 0 if unknown, or in another file
  uint64_t copy = 0;        ///< ObjectAddress of the function's own code, whose symbol is still to be taken
};

/// The named range a position lies in. Text nobody has a name for gets "[object+0xSTART]", START being an
/// ObjectAddress: never a neighbour's name. The range of a function is the whole function, so that its start
/// distinguishes it from another of the same name; where symbols overlap, ranges do.
struct NamedRange {
  /// Demangled symbol, "name@plt", "[object+0x...]", "[signal trampoline]"; "[object]" if nothing is known.
  std::string function;
  uint64_t start = 0;  ///< of the range, in the unit the positions are in
  uint64_t end = 0;
  std::string linkage{};  ///< as of Frame; of a stub with "@plt" behind it
  uint64_t address = 0;   ///< ObjectAddress of the start, where positions are another unit; else 0

  /// The address of the start.
  [[nodiscard]] uint64_t object_address() const { return address != 0 ? address : start; }
};

/// One of the symbols of a piece of code.
struct SymbolName {
  std::string function;   ///< demangled, without a version ("@GLIBC_2.3")
  std::string linkage{};  ///< as it is in the table, if that is another
};

/// A piece of code as it lies in its file.
struct CodeBytes {
  uint64_t address = 0;          ///< ObjectAddress of the first byte
  std::vector<uint8_t> bytes{};  ///< empty if they are not here
  uint16_t machine = 0;          ///< e_machine of ELF
  uint64_t changed_unix_ns = 0;  ///< the file; 0: not known
};

}  // namespace pctally
