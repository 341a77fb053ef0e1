// Ticks at one byte of text: what a reader finds in a cell, and what a profile is made of. Ranges
// of such bytes.
#pragma once
#include <cstdint>

namespace pctally {

/// No honest counter reaches this; sums of anything the reader returns stay far below 2^63.
inline constexpr uint64_t kLargestCount = uint64_t{1} << 56;

/// `position` is a file offset (file), a distance from the start (vdso) or a runtime address (kernel,
/// private); 0 (start).
struct WeightedPosition {
  uint32_t executable = 0;  ///< index into FileContents::objects, or Profile::executables
  uint64_t position = 0;
  uint64_t ticks = 0;
};

/// A range of positions.
struct FileSegment {
  uint32_t object = 0;  ///< index into FileContents::objects
  uint64_t start = 0;
  uint64_t bytes = 0;
};

}  // namespace pctally
