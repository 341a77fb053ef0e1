// A sorted table for an .eh_frame that came without .eh_frame_hdr: `gcc -static` leaves it out.
#pragma once
#include <vector>

#include "tick/unwind/cfi.h"

namespace pctally {

/// The bytes of an .eh_frame_hdr, relative to frames_address, for the entries of `sections` (whose header is
/// not read). Empty if none can be understood. Bounded by the section: the bytes may be hostile.
std::vector<unsigned char> make_frame_table(const CfiSections& sections);

}  // namespace pctally
