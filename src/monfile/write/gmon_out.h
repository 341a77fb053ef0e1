// gmon.out as gprof reads it: records of 16-bit counters over ranges of text, all of the same width. A
// counter above 65535 becomes a range of its own that is repeated: gprof adds equal ranges up.
//
// Loses no tick but those above 2^31 - 1 in one counter, which gprof cannot hold; their number is returned.
#pragma once
#include <stdint.h>

#include <span>

#include "monfile/write/mon_file.h"
#include "tick/region.h"

namespace pctally {

/// Regions of one object, ascending and disjoint, cells of kU16, kU32 or kU64 that can be read. `base` is
/// subtracted from every address. Returns the number of ticks that were cut.
uint64_t write_gmon_out(MonFile* file, std::span<const Region> regions, uint64_t base,
                        uint32_t hertz) noexcept;

}  // namespace pctally
