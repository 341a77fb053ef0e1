// The DWARF of one file, opened by libdw: its units and which of them an address belongs to. It never lets
// libdw open a companion file (split units, dwz) that is not a regular one.
#pragma once
#include <elfutils/libdw.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "object/dwarf/interval_map.h"
#include "object/elf/elf_file.h"

namespace pctally {

class DwarfFile {
 public:
  struct Unit {
    Dwarf_Die die;          ///< has the line table
    Dwarf_Die inner;        ///< has the functions: the split unit if there is one, else `die`
    std::string directory;  ///< of the compilation; empty if unknown
  };

  /// `file` must outlive the result.
  static Result<std::unique_ptr<DwarfFile>> open(const ElfFile& file);

  /// Index of the unit whose code `address` is, below units().
  [[nodiscard]] std::optional<uint32_t> unit_at(uint64_t address) const { return intervals_.find(address); }
  /// Opens the split unit, if any. What it has is valid until renew().
  Unit unit(uint32_t index);
  /// What was not found of the file or of a unit that was asked for; empty if nothing is missing.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Gives back the memory that libdw took for the units: it has no other way. False if the file cannot be
  /// read any more; then it has no units.
  bool renew();

 private:
  struct End {
    void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  };
  bool begin();
  Result<void> open_companion();
  void read_units();
  void add_all_ranges(AddressRange text);
  void add_ranges_elsewhere(AddressRange text, uint64_t* left);

  const ElfFile* file_ = nullptr;
  std::unique_ptr<ElfFile> decompressed_;
  std::unique_ptr<ElfFile> companion_, decompressed_companion_;  ///< what dwz moved common parts to
  std::unique_ptr<Dwarf, End> common_;                           ///< of the companion
  std::unique_ptr<Dwarf, End> dwarf_;
  std::vector<Dwarf_Die> units_;
  IntervalMap intervals_;
  std::string problem_;
};

/// Adds the address ranges of a DIE that begin in `text`; linkers leave ranges of dropped functions
/// at address 0. Reads at most `most`; returns how many it has read.
uint64_t add_ranges(Dwarf_Die* die, AddressRange text, uint32_t id, IntervalMap* intervals, uint64_t most);

/// The path of a source file by the name that a line table has; empty if that is null. libdw joins a name
/// with its directory, and a relative directory with nothing. A relative directory of compilation, which
/// compilers write when they are asked to hide it, is left out: the result is then relative, too.
std::string source_path(const std::string& directory, const char* name);

/// From the start of the first executable section to the end of the last.
AddressRange text_bounds(const ElfFile& file);

}  // namespace pctally
