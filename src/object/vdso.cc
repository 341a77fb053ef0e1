#include "object/vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>

namespace pctally {
namespace {

constexpr uint64_t kLargest = 1 << 20;

/// The image's size: the farther end of its segments and its table of sections, which the kernel
/// maps with it.
uint64_t image_size(const unsigned char* image) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(image);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(image + header->e_phoff);
  uint64_t size = header->e_shoff + uint64_t{header->e_shnum} * header->e_shentsize;
  for (unsigned i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type == PT_LOAD)
      size = std::max<uint64_t>(size, segments[i].p_offset + segments[i].p_filesz);
  }
  return size;
}

}  // namespace

Result<ElfFile> own_vdso() {
  const auto* image = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) return fail(0, "this kernel gives processes no vdso");
  const uint64_t size = image_size(image);
  if (size > kLargest) return fail(0, "the vdso is too large to be one");
  return ElfFile::from_image({image, image + size});
}

}  // namespace pctally
