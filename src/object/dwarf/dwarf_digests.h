// The MD5s that a unit's line table has of its source files. libdw does not hand them out.
#pragma once
#include "object/dwarf/dwarf_file.h"
#include "object/elf/md5.h"

namespace pctally {

/// By the paths that frames have. Empty where there are none: before DWARF 5, from GCC 12, or where the table
/// cannot be read.
SourceDigests source_digests(const DwarfFile::Unit& unit);

}  // namespace pctally
