// Ticks at one byte of text: what a reader finds in a cell, and what a profile is made of.
#pragma once
#include <cstdint>

namespace pctally {

/// `position` is a file offset (file), a distance from the start (vdso) or a runtime address (kernel,
/// private); 0 (start).
struct WeightedPosition {
  uint32_t executable = 0;  ///< index into FileContents::objects, or Profile::executables
  uint64_t position = 0;
  uint64_t ticks = 0;
};

}  // namespace pctally
