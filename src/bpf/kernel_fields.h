// Describes where the running kernel keeps the few fields that the BPF program reads: its type
// description (BTF) cut down to them. libbpf would read and index all 5 MB of it, which is three quarters
// of the engine's start.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace pctally {

/// Distance in bytes of `member` from the start of `structure`, from the bytes of a BTF file (all of it is
/// checked before use). -1 if there is none, if it is a bit-field, or if it lies in an unnamed inner struct.
int64_t btf_member_offset(const unsigned char* btf, size_t bytes, std::string_view structure,
                          std::string_view member) noexcept;

/// A memory file with a BTF that knows task_struct's fields as tick.bpf.c names them and nothing else. An
/// Error if the kernel's own cannot be read: then libbpf can still try.
Result<UniqueFd> write_kernel_fields();

}  // namespace pctally
