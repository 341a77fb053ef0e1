// Reads a mon.out of System V (monfile/mon_layout.h).
//
// Refuses what cannot be one: the file has no mark of its own, so the sizes have to fit each other.
#pragma once
#include <span>

#include "base/result.h"
#include "monfile/byte_layout.h"
#include "monfile/read/text_histogram.h"

namespace pctally {

/// The file does not say how long a tick is.
Result<TextProfile> read_mon_out(std::span<const unsigned char> bytes, ByteLayout layout);

}  // namespace pctally
