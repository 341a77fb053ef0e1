// Merges what archives hold of one executable beside names, from all files that know it: code and lines.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "names/names_section.h"
#include "names/names_writer.h"
#include "names/overlay.h"
#include "object/elf/frame.h"

namespace pctally {

/// An object in one file's names.
struct KeptObject {
  const NamesSection* section = nullptr;
  uint32_t object = 0;
  std::optional<uid_t> owner{};  ///< of the file
};

/// What a file says of a place in the source.
struct KeptLines {
  const NamesSection* section = nullptr;
  const NamesPlace* place = nullptr;
  [[nodiscard]] std::vector<Frame> frames() const;
};

struct KeptParts {
  std::vector<uint64_t> positions{};  ///< that archives have a name for, ascending
  FunctionCode code{};
  std::vector<Piece<KeptLines>> places{};  ///< as of lines_of()
};

/// Ascending, none overlaps another. Where objects disagree about a byte, the greater answer wins. So neither
/// their order nor earlier merging changes the result.
std::vector<Piece<KeptLines>> lines_of(std::span<const KeptObject> objects);

/// The code of a range, as far as the file has it.
CodeView code_of(const KeptObject& kept, const NamesRange& range);

/// As of lines_of().
KeptParts parts_of(std::span<const KeptObject> objects);

}  // namespace pctally
