// The values of a BPF array that may be mapped, as memory of this process.
#pragma once
#include "base/file/mapped_file.h"

struct bpf_object;

namespace pctally {

/// REQUIRES: the object is loaded and has an array of that name, with BPF_F_MMAPABLE.
Result<MappedFile> map_array(const bpf_object* object, const char* name);

}  // namespace pctally
