// profil(2) of 4.4BSD, FreeBSD, NetBSD, OpenBSD and macOS.
#include "pctally/bsd.h"

#include <stdlib.h>
#include <string.h>

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"

namespace pctally {
namespace {

constinit Session g_bsd;

/// "This function is now deprecated. It will always return EINVAL."
bool as_on_macos() noexcept {
  const char* wanted = getenv("PCTALLY_BSD_PROFIL");
  return wanted != nullptr && strcmp(wanted, "macos") == 0;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_bsd_profil(char* samples, size_t size, unsigned long offset,
                                            unsigned int scale) {
  SessionLock lock;
  ScaleMeaning meaning = meaning_of(kBsdProfil, scale);
  if (meaning == ScaleMeaning::kInvalid || as_on_macos()) return refuse(EINVAL);
  if (meaning != ScaleMeaning::kOff && writable(samples, size))
    return told(start_one(g_bsd, kBsdProfil, {samples, size}, offset, scale));
  g_bsd.stop();
  return meaning == ScaleMeaning::kOff ? 0 : refuse(EFAULT);
}
