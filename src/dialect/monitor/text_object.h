// Finds the loaded object that an address belongs to: profile files hold addresses as the linker gave them.
#pragma once
#include <stdint.h>

#include "base/file/mapped_array.h"

namespace pctally {

struct TextObject {
  uint64_t base = 0;   ///< what the loader added to the object's addresses
  bool found = false;  ///< the address lies in an object
  bool is_program = false;
  char name[64] = "unknown";  ///< of a library: its file's name, cut
  bool operator==(const TextObject& other) const noexcept {
    return base == other.base && found == other.found && is_program == other.is_program;
  }
};

TextObject text_object(uint64_t address) noexcept;

struct TextRange {
  uint64_t low = 0;
  uint64_t high = 0;  ///< the first byte behind
};

/// The text of the program and of all its libraries, ascending; false when memory is refused.
[[nodiscard]] bool loaded_text(MappedArray<TextRange>* ranges) noexcept;

}  // namespace pctally
