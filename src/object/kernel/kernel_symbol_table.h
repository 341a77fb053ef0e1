// Names by kernel address: an array and a string, the same in memory and in the cache's file. Believes
// nothing about its bytes: a damaged table gives a wrong name or none, and no fault.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <span>
#include <vector>

#include "base/file/byte_reader.h"
#include "object/elf/frame.h"

namespace pctally {

/// One address, as it is stored.
struct KernelSymbol {
  uint64_t address = 0;
  uint32_t name = 0;      ///< offset among the names
  uint16_t length = 0;    ///< 0: no name for text, it only bounds the symbol before it
  uint8_t is_global = 0;  ///< preferred to a local one of the same address
  uint8_t of_module = 0;  ///< a loadable module's: it stays as long as the module
};
static_assert(sizeof(KernelSymbol) == 16);

/// How much of the kernel a table knows. Between the core's ends nothing is missing.
struct KernelSymbolExtent {
  uint64_t core_start = 0;
  uint64_t core_end = 0;
  uint64_t is_complete = 0;  ///< not 0: everything there was when it was read
};

class KernelSymbolTable {
 public:
  /// Looks into bytes of others: `symbols` is an array of KernelSymbol, ascending, one per address.
  KernelSymbolTable(std::span<const unsigned char> symbols, std::span<const unsigned char> names,
                    KernelSymbolExtent extent)
      : symbols_(symbols), names_(names), extent_(extent) {}

  [[nodiscard]] bool is_empty() const { return count() == 0; }
  [[nodiscard]] const KernelSymbolExtent& extent() const { return extent_; }
  [[nodiscard]] std::span<const unsigned char> symbols() const { return symbols_.slice(0, symbols_.size()); }
  [[nodiscard]] std::span<const unsigned char> names() const { return names_.slice(0, names_.size()); }
  /// Whether the answer for `address` is sure whatever comes and goes around the core.
  [[nodiscard]] bool in_core(uint64_t address) const;
  /// Whether `address` lies on a page with text of a module, which is the module's as long as it is loaded.
  [[nodiscard]] bool in_module(uint64_t address) const;
  /// A symbol reaches to the next one.
  [[nodiscard]] NamedRange range_at(uint64_t address) const;
  /// One result per address (ascending).
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses) const;

 private:
  [[nodiscard]] size_t count() const { return symbols_.size() / sizeof(KernelSymbol); }
  [[nodiscard]] KernelSymbol at(size_t index) const;
  [[nodiscard]] size_t first_above(uint64_t address) const;
  [[nodiscard]] bool is_module_page(size_t index, uint64_t address) const;
  [[nodiscard]] std::string unnamed(uint64_t start) const;

  ByteReader symbols_;
  ByteReader names_;
  KernelSymbolExtent extent_;
};

}  // namespace pctally
