// profil(2) of 4.4BSD, FreeBSD, NetBSD, OpenBSD and macOS.
#include "pctally/bsd.h"

#include "dialect/call.h"
#include "dialect/caller_memory.h"
#include "dialect/region_builder.h"
#include "dialect/variant.h"

namespace pctally {
namespace {

constinit Session g_bsd("bsd");

constexpr char kVariant[] = "PCTALLY_BSD_PROFIL";

/// macOS: "This function is now deprecated. It will always return EINVAL."
bool as_on_macos() noexcept { return is_variant(kVariant, "macos"); }

/// "[(pc - offset) / 2] * scale / 65536" as the page has it, where the kernels multiply first.
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
  SessionsLock lock;
  if (as_on_macos()) return set_errno(EINVAL);
  ScaleMeaning meaning = meaning_of(kBsdProfil, scale);
  if (meaning != ScaleMeaning::kOff && !writable(samples, size)) {
    g_bsd.stop();
    return set_errno(EFAULT);
  }
  if (meaning == ScaleMeaning::kInvalid) return set_errno(EINVAL);
  return set_errno(
      profil_one(&g_bsd, policy(), {.base = samples, .bytes = size, .offset = offset, .scale = scale}));
}
