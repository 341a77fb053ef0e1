// tick.bpf.c as clang compiled it: an ELF file for libbpf. Its bytes are written into a source by the build.
#pragma once
#include <stddef.h>

namespace pctally {

extern const unsigned char kProgramImage[];
extern const size_t kProgramImageBytes;

/// The same with call paths; on x86-64 and aarch64 alone.
extern const unsigned char kPathProgramImage[];
extern const size_t kPathProgramImageBytes;

}  // namespace pctally
