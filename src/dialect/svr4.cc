// profil(2) of System V Release 4.
#include "pctally/svr4.h"

#include "dialect/call.h"
#include "dialect/region_builder.h"
#include "dialect/variant.h"

namespace pctally {
namespace {

constinit Session g_svr4("svr4");

constexpr char kVariant[] = "PCTALLY_SVR4_PROFIL";

/// The page turns profiling off when a count reaches 32767; illumos at the next tick of that count. Scale 2
/// "maps subdivision 65,536 bytes long to each counter" by the page; illumos has one counter for all text.
DialectPolicy policy() noexcept {
  DialectPolicy policy = kSvr4Profil;
  if (is_variant(kVariant, "illumos")) policy.when_full = WhenFull::kStopLate;
  if (is_variant(kVariant, "manual")) policy.two_is_one_cell = false;
  return policy;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_svr4_profil(unsigned short* buff, unsigned int bufsiz, size_t offset,
                                             unsigned int scale) {
  SessionsLock lock;
  return set_errno(
      profil_one(&g_svr4, policy(), {.base = buff, .bytes = bufsiz, .offset = offset, .scale = scale}));
}
