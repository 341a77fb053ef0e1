// The GNU build id of an ELF file, 32-bit or 64-bit, from its notes. No heap.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

namespace pctally {

inline constexpr size_t kElfPartBytes = 4096;  ///< most files have all their notes in the first so many
inline constexpr size_t kBuildIdBytes = 32;    ///< longer ones are none

/// Reads at most `bytes` at `offset` of an ELF file. Returns their number, or -1.
using ReadElf = ssize_t (*)(void* file, uint64_t offset, void* to, size_t bytes);

/// The id into `id` (kBuildIdBytes). Its length, 0: none is known. Asks `read` for kElfPartBytes at most at
/// once: for the first, and for others only if notes lie behind them. patchelf moves them, and the kernel
/// knows such ids from 6.12 on.
uint32_t read_build_id(ReadElf read, void* file, uint8_t* id) noexcept;

/// The build id of an open file.
uint32_t read_build_id(int fd, uint8_t* id) noexcept;

}  // namespace pctally
