// Prepares the debug sections of a file for libdw. Refuses compressed sections that claim too much;
// decompresses those of zstd, which libelf does not read, into a file in memory.
#pragma once
#include <memory>

#include "object/elf/elf_file.h"

namespace pctally {

bool has_line_information(const ElfFile& file);

/// Null if the file can be read as it is; else a file in memory with its debug sections decompressed
/// and nothing else.
Result<std::unique_ptr<ElfFile>> decompress_debug_sections(const ElfFile& file);

}  // namespace pctally
