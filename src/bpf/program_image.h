// tick.bpf.c as clang compiled it: an ELF file for libbpf. Its bytes are written into a source by the build.
#pragma once
#include <stddef.h>

namespace pctally {

extern const unsigned char kProgramImage[];
extern const size_t kProgramImageBytes;

}  // namespace pctally
