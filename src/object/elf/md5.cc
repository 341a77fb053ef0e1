#include "object/elf/md5.h"

#include <md5.h>

namespace pctally {

Md5 md5_of(std::span<const unsigned char> bytes) {
  MD5_CTX state;
  MD5Init(&state);
  MD5Update(&state, bytes.data(), bytes.size());
  Md5 digest;
  MD5Final(digest.data(), &state);
  return digest;
}

}  // namespace pctally
