// .gnu_debugdata ("MiniDebugInfo" of Fedora and its relatives): a file with the symbols of functions that
// strip has taken out of the object, packed by xz.
#pragma once
#include <memory>

#include "object/elf/elf_file.h"

namespace pctally {

/// That file, unpacked in memory. Null if `object` has none.
Result<std::unique_ptr<ElfFile>> unpack_symbols(const ElfFile& object);

}  // namespace pctally
