// The identity a linker gives a file: finding it in notes, writing it down. It names a file; it
// does not prove that its bytes are unchanged.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "base/file/byte_reader.h"

namespace pctally {

using BuildId = std::span<const unsigned char>;

/// The NT_GNU_BUILD_ID among the notes of a PT_NOTE segment or note section in the machine's byte order, or
/// an empty span. `alignment` is the segment's: names and descriptors are padded to 4, or to 8 if it says so.
BuildId find_build_id(std::span<const unsigned char> notes, uint64_t alignment);

std::string to_hex(std::span<const unsigned char> bytes);

/// Where distributions keep the debug file of a build id, relative to a debug root:
/// ".build-id/ab/cdef.debug". Empty for an id too short to have one.
std::string debug_file_name(BuildId id);

}  // namespace pctally
