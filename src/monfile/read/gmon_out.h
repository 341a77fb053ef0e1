// gmon.out of GNU: records of 16-bit counters over ranges of text, and arcs of the call graph. An arc's
// number of calls is kept, and nothing else of it.
//
// Refuses what gprof refuses: ranges that overlap in part, ticks that are not seconds, rates that differ.
#pragma once
#include <span>

#include "base/result.h"
#include "monfile/byte_layout.h"
#include "monfile/read/text_histogram.h"

namespace pctally {

[[nodiscard]] bool is_gmon_out(std::span<const unsigned char> bytes);

/// The byte order is the file's own; `wide` is the program's. Counters of equal ranges are added up.
Result<TextProfile> read_gmon_out(std::span<const unsigned char> bytes, bool wide);

}  // namespace pctally
