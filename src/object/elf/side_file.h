// Reading the small files beside a program that name its code. They may be anybody's: a fifo, a link, a
// file without end.
#pragma once
#include <cstdint>
#include <string>

#include "base/result.h"
#include "object/elf/regular_file.h"

namespace pctally {

/// The contents of a regular file (or one of /proc), read and not mapped, because it may shrink meanwhile.
/// Refuses links in the last place, files larger than `limit`, and other people's if asked to. Never blocks.
/// *changed_unix_ns: when it was last written, if asked for.
Result<std::string> read_side_file(const std::string& path, size_t limit, Trust trust,
                                   uint64_t* changed_unix_ns = nullptr);

}  // namespace pctally
