// The names section of a profile file, as bytes: where it lies, reading it, and putting it behind the pool.
#pragma once
#include <span>
#include <vector>

#include "base/result.h"
#include "histfile/layout.h"

namespace pctally {

/// The section of a file that is not being recorded; empty if it has none. Error: it cannot be read, or is
/// larger than the 1 GiB a section may have.
Result<std::vector<unsigned char>> read_names_bytes(int fd);

/// Puts a section behind the pool of a file in memory; false if its header says that the pool is larger than
/// any. REQUIRES: `file` is a whole file without names.
bool append_names_bytes(std::span<const unsigned char> section, std::vector<unsigned char>* file);

/// Puts it behind the pool of a closed file without names, on disk. The header refers to it once it is whole:
/// a maker that is killed leaves a file without names. Errors: EBUSY (being recorded), EEXIST (has names),
/// EINVAL (its header cannot be right), write(2)'s; the file is then what it was.
Result<void> write_names_bytes(int fd, std::span<const unsigned char> section);

}  // namespace pctally
