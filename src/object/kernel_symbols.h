// Names of kernel text from /proc/kallsyms. They hold for one boot, and only for readers the kernel shows
// addresses.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "object/symbolizer.h"

namespace pctally {

class KernelSymbols {
 public:
  /// Reads the running kernel's symbols; fails if it is not the boot of `boot_id` (16 bytes; empty: unknown,
  /// refused) or the addresses are hidden.
  static Result<KernelSymbols> load(std::span<const uint8_t> boot_id);
  /// Parses the text of /proc/kallsyms; lines that are not of its form are skipped.
  static Result<KernelSymbols> parse(std::string text);

  /// One result per address (ascending). A symbol reaches to the next one.
  [[nodiscard]] std::vector<NamedRange> name(std::span<const uint64_t> addresses) const;

 private:
  struct Entry {
    uint64_t address = 0;
    uint32_t name = 0;        ///< offset of the name in text_
    bool names_text = false;  ///< false: only bounds the symbol before it
  };
  void add(std::string_view line);
  void sort();
  [[nodiscard]] std::string_view name_of(const Entry& entry) const;
  [[nodiscard]] bool better(const Entry& a, const Entry& b) const;
  [[nodiscard]] NamedRange range_at(uint64_t address) const;

  std::string text_;
  std::vector<Entry> entries_;  ///< ascending, one per address
};

/// The 16 bytes of an id written in hexadecimal with dashes; empty if it is not one.
std::vector<uint8_t> parse_uuid(std::string_view text);

}  // namespace pctally
