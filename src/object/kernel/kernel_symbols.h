// Names of kernel text from /proc/kallsyms. They hold for one boot, and only for readers the kernel shows
// addresses. The kernel makes up that text anew at every reading, slowly: it is read no further than needed,
// and kept for the next report.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "object/elf/frame.h"
#include "object/kernel/kernel_symbol_cache.h"
#include "object/kernel/kernel_symbol_epoch.h"
#include "object/kernel/kernel_symbol_parser.h"

namespace pctally {

/// Where the running kernel tells about itself, and where that is kept.
struct KernelPlaces {
  std::string boot_id = "/proc/sys/kernel/random/boot_id";
  std::string symbols = "/proc/kallsyms";
  KernelModulePlaces modules;
  KernelSymbolCache cache = KernelSymbolCache::of_environment();
};

class KernelSymbols {
 public:
  /// The running kernel's symbols; fails if it is not the boot of `boot_id` (16 bytes; empty: unknown,
  /// refused) or the addresses are hidden.
  static Result<KernelSymbols> load(std::span<const uint8_t> boot_id, KernelPlaces places = {});
  /// Parses the text of /proc/kallsyms; lines that are not of its form are skipped.
  static Result<KernelSymbols> parse(std::string_view text);

  /// One result per address (ascending). A symbol reaches to the next one. Reads what it needs.
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses);

 private:
  Result<void> open();
  Result<void> read_piece();
  Result<void> read_for(std::span<const uint64_t> addresses);
  [[nodiscard]] bool is_cached(std::span<const uint64_t> addresses) const;
  void keep() const;

  KernelPlaces places_;
  std::vector<uint8_t> boot_id_;
  std::optional<CachedKernelSymbols> cached_;
  std::optional<uint64_t> module_state_;  ///< before the first piece was read
  UniqueFd text_;
  KernelSymbolParser parser_;
  bool has_read_ = false;  ///< more than was kept
};

}  // namespace pctally
