// profil(2) of 4.4BSD, FreeBSD, NetBSD, OpenBSD and macOS.
#include "pctally/bsd.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/profil.h"
#include "dialect/variant.h"

namespace pctally {
namespace {

constinit Session g_bsd("bsd");

constexpr char kVariant[] = "PCTALLY_BSD_PROFIL";

/// "This function is now deprecated. It will always return EINVAL."
bool as_on_macos() noexcept { return is_variant(kVariant, "macos"); }

/// "[(pc - offset) / 2] * scale / 65536" by the letter, where the kernels multiply first.
DialectPolicy policy() noexcept {
  DialectPolicy policy = kBsdProfil;
  if (is_variant(kVariant, "manual")) policy.family = PCTALLY_BIN_MAN;
  return policy;
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
    return told(start_one(g_bsd, policy(), {samples, size}, offset, scale));
  g_bsd.stop();
  return meaning == ScaleMeaning::kOff ? 0 : refuse(EFAULT);
}
