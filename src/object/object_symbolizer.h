// Names for the positions of one file (or the vdso): positions become addresses here, and
// addresses positions again.
#pragma once
#include <memory>
#include <optional>
#include <unordered_map>

#include "object/dwarf/debug_finder.h"
#include "object/dwarf/dwarf_frames.h"
#include "object/elf/elf_file.h"
#include "object/elf/text_map.h"
#include "object/symbolizer.h"

namespace pctally {

/// The names of a file, by reading it in this process. Null if `trust` forbids that. `fetched`: a file that
/// may have its debug information.
std::unique_ptr<Symbolizer> open_executable(const ExecutableIdentity& identity, Trust trust,
                                            const std::string& fetched = "");

class ObjectSymbolizer : public Symbolizer {
 public:
  /// `label` is what stands for the object in "[label+0x...]". `file` may be null: then nothing has a name.
  /// `problem` is empty if all is well.
  ObjectSymbolizer(std::string object_name, std::string label, std::unique_ptr<ElfFile> file,
                   std::string problem, DebugFinder finder);

  [[nodiscard]] const std::string& object_name() const override { return object_name_; }
  [[nodiscard]] const std::string& problem() const override { return problem_; }
  [[nodiscard]] const std::string& line_problem() const override { return line_problem_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override;
  [[nodiscard]] bool has_other_names() override;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override;
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override;
  CodeBytes code(uint64_t start, uint64_t end) override;
  SourceDigests digests(std::span<const uint64_t> positions) override;
  std::optional<uint64_t> position(uint64_t address) override;
  [[nodiscard]] std::optional<uid_t> owner() const override;

 private:
  /// The addresses of those positions that are loaded, ascending, and which position each belongs to.
  struct Addresses {
    std::vector<uint64_t> values;
    std::vector<size_t> positions;
  };
  [[nodiscard]] Addresses addresses_of(std::span<const uint64_t> positions) const;
  [[nodiscard]] NamedRange to_positions(NamedRange range, uint64_t address, uint64_t position) const;
  [[nodiscard]] NamedRange not_loaded(uint64_t position) const;
  TextMap& text();
  const ElfFile* debug_file();
  const ElfFile* other_symbols();
  void open_frames();
  void take_symbols_of_copies(std::vector<std::vector<Frame>>* frames);
  void complain(std::string problem);

  std::string object_name_;
  std::string label_;
  std::unique_ptr<ElfFile> file_;
  std::string problem_, line_problem_;
  DebugFinder finder_;
  bool debug_searched_ = false;
  std::unique_ptr<ElfFile> debug_;
  std::unique_ptr<ElfFile> unpacked_;
  std::optional<TextMap> text_;
  bool others_taken_ = false;  ///< text_ has what other_symbols() has
  bool frames_opened_ = false;
  std::unique_ptr<DwarfFrames> frames_;
  std::unordered_map<uint64_t, NamedRange> copies_;  ///< by start: to ask is to go through all symbols
};

}  // namespace pctally
