// Names from profile files first; from the executable where they have none.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "names/kept_parts.h"
#include "object/symbolizer.h"

namespace pctally {

/// Opens the executable itself.
using OpenExecutable = std::function<std::unique_ptr<Symbolizer>(const ExecutableIdentity&)>;

/// A file's name for positions.
struct KeptName {
  const NamesSection* section = nullptr;
  const NamesRange* range = nullptr;
  bool is_hit = false;  ///< they are from the range's first hit to its last
};

class KeptSymbolizer : public Symbolizer {
 public:
  KeptSymbolizer(ExecutableIdentity identity, std::vector<KeptObject> objects, OpenExecutable open);

  [[nodiscard]] const std::string& object_name() const override { return object_name_; }
  /// The problem of the executable, where it was asked for names that are not here.
  [[nodiscard]] const std::string& problem() const override;
  /// The same for code.
  [[nodiscard]] const std::string& code_problem() const override;
  /// The same for lines: if it cannot be read, it has none.
  [[nodiscard]] const std::string& line_problem() const override;
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override;
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override;
  /// The executable's, if it is here: a profile has one name for a function.
  std::vector<std::vector<SymbolName>> find_aliases(std::span<const uint64_t> starts) override {
    return executable().aliases(starts);
  }
  CodeBytes code(uint64_t start, uint64_t end) override;
  /// The digests for lines that the executable has; for kept lines the sources are kept, too.
  SourceDigests digests(std::span<const uint64_t> positions) override;
  std::optional<uint64_t> position(uint64_t address) override;
  /// The owner of the profile for lines that it holds; nothing if that is root, and a JIT's code has the
  /// lines.
  [[nodiscard]] std::optional<uid_t> owner() const override;
  [[nodiscard]] bool is_from_profile() const override { return gave_kept_; }

 private:
  /// Null if no file has a name, or lines, for it.
  const KeptName* find(uint64_t position);
  const KeptLines* find_lines(uint64_t position);
  Symbolizer& executable();

  ExecutableIdentity identity_;
  std::string object_name_;
  std::vector<KeptObject> objects_;
  OpenExecutable open_;
  std::unique_ptr<Symbolizer> executable_;
  // Made when they are first needed:
  std::optional<std::vector<Piece<KeptName>>> names_;
  std::optional<std::vector<Piece<KeptLines>>> lines_;
  std::set<std::optional<uid_t>> line_owners_;  ///< of the files with lines
  std::optional<std::vector<Piece<const NamesRange*>>> addresses_;
  bool missed_ = false;           ///< the executable was asked for names that are not here
  bool code_missed_ = false;      ///< the same, for code
  bool lines_missed_ = false;     ///< the same, for lines
  bool gave_kept_ = false;        ///< frames that are here
  bool gave_executable_ = false;  ///< frames of the executable
};

}  // namespace pctally
