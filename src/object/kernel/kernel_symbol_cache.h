// Kernel symbols kept from one report to the next, in a file per boot. It only saves time: errors
// are silent, and a file that others can write, or of another boot, is not used.
//
//   header: magic, version, boot id, module state, extent, counts
//   KernelSymbol[symbols]
//   char[names]
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file/mapped_file.h"
#include "base/unique_fd.h"
#include "object/kernel/kernel_symbol_table.h"

namespace pctally {

/// A table in a mapped file, and the module state it holds for.
struct CachedKernelSymbols {
  MappedFile file;
  KernelSymbolTable table;
  uint64_t module_state = 0;
};

class KernelSymbolCache {
 public:
  /// No cache: finds nothing and keeps nothing.
  KernelSymbolCache() = default;
  /// A directory below `base`, each of the names in turn. `base` must exist and be ours, the others are made.
  KernelSymbolCache(std::string base, std::vector<std::string> below);
  /// $XDG_CACHE_HOME/pctally, else ~/.cache/pctally. None if PCTALLY_NO_CACHE says so, or in a program with
  /// more rights than its caller.
  static KernelSymbolCache of_environment();

  [[nodiscard]] bool exists() const { return !base_.empty(); }
  /// The file's directory, for messages and tests.
  [[nodiscard]] std::string path() const;
  [[nodiscard]] std::optional<CachedKernelSymbols> find(std::span<const uint8_t> boot_id) const;
  /// Writes the file of this boot, whole or not at all, and removes those of other boots.
  void keep(std::span<const uint8_t> boot_id, uint64_t module_state, const KernelSymbolTable& table) const;

 private:
  enum class Missing { kIsAFailure, kIsMade };
  [[nodiscard]] UniqueFd open_directory(Missing missing) const;

  std::string base_;
  std::vector<std::string> below_;
};

}  // namespace pctally
