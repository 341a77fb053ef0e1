// Identifies a profile file: its magic bytes, and the numbers of its layout.
#pragma once
#include <string.h>
#include <unistd.h>

#include "histfile/layout.h"

namespace pctally {

/// Makes a header one of a profile of this machine, without call paths.
inline void identify(FileHeader* header) noexcept {
  memcpy(header->magic, kMagic, sizeof header->magic);
  header->version = kLayoutVersion;
  header->header_bytes = kHeaderBytes;
  header->byte_order = 0x01020304;
  header->unit_bytes = kUnitBytes;
  header->pointer_bytes = sizeof(void*);
}

/// True if the file begins as a profile does.
inline bool is_profile(int fd) noexcept {
  char magic[sizeof kMagic];
  return pread(fd, magic, sizeof magic, 0) == sizeof magic && memcmp(magic, kMagic, sizeof magic) == 0;
}

}  // namespace pctally
