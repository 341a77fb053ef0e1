// Merges what archives hold of one executable beside names, from all files that know it: code and lines.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "names/names_section.h"
#include "names/names_writer.h"
#include "object/elf/frame.h"

namespace pctally {

/// An object in one file's names.
struct KeptObject {
  const NamesSection* section = nullptr;
  uint32_t object = 0;
  std::optional<uid_t> owner{};  ///< of the file
};

/// Positions that are one place in the source.
struct KeptPlace {
  uint64_t position = 0;
  uint32_t bytes = 0;
  std::vector<Frame> frames{};
};

struct KeptParts {
  std::vector<uint64_t> positions{};  ///< that archives have a name for, ascending
  FunctionCode code{};
  std::vector<KeptPlace> places{};  ///< ascending, none overlaps another
};

/// The frames at one position; nothing if no object has them.
std::optional<std::vector<Frame>> frames_at(std::span<const KeptObject> objects, uint64_t position);

/// The code of a range, as far as the file has it.
CodeBytes code_of(const KeptObject& kept, const NamesRange& range);

/// Nothing depends on the order of the objects, nor on which of them were put together before: where they
/// disagree about a byte, the greater answer counts.
KeptParts parts_of(std::span<const KeptObject> objects);

}  // namespace pctally
