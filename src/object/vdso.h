// The kernel's vdso. It has no file; the image mapped into this process is the same for every process
// of one kernel.
#pragma once
#include "object/elf/elf_file.h"

namespace pctally {

/// A copy of this process's vdso. Its FileOffsets are distances from its start.
Result<ElfFile> own_vdso();

}  // namespace pctally
