// The MD5s that a unit's line table has of its source files. libdw does not hand them out.
#pragma once
#include <elfutils/libdw.h>

#include "object/elf/md5.h"

namespace pctally {

/// Empty where there are none: before DWARF 5, from GCC 12, or where the table cannot be read. REQUIRES: the
/// unit has the line table.
SourceDigests source_digests(Dwarf_Die* unit);

}  // namespace pctally
