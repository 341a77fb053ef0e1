// From the list of osProfileInit to regions that a tick can search.
#pragma once
#include <span>

#include "base/file/mapped_array.h"
#include "pctally/n64.h"
#include "tick/region.h"

namespace pctally::n64 {

/// Disjoint regions, ascending. "There is no check for overlapping text segments": what several entries claim
/// belongs to the first of them, as if the list were searched in its order. False when memory is refused.
/// REQUIRES: text_start < text_end in every entry.
bool make_regions(std::span<const pctally_n64_prof> list, MappedArray<Region>* regions) noexcept;

/// The region of a counter that takes what lies in no segment.
Region overflow_region(uint32_t* counter) noexcept;

}  // namespace pctally::n64
