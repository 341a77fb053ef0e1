// profil(2) of System V Release 4.
#include "pctally/svr4.h"

#include "dialect/call.h"
#include "dialect/profil.h"
#include "dialect/variant.h"

namespace pctally {
namespace {

constinit Session g_svr4("svr4");

/// The page turns profiling off when a count reaches 32767; illumos at the next tick of that count.
DialectPolicy policy() noexcept {
  DialectPolicy policy = kSvr4Profil;
  if (is_variant("PCTALLY_SVR4_PROFIL", "illumos")) policy.when_full = WhenFull::kStopLate;
  return policy;
}

}  // namespace
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_svr4_profil(unsigned short* buff, unsigned int bufsiz, size_t offset,
                                             unsigned int scale) {
  SessionLock lock;
  if (meaning_of(kSvr4Profil, scale) != ScaleMeaning::kOff)
    return told(start_one(g_svr4, policy(), {buff, bufsiz}, offset, scale));
  g_svr4.stop();
  return 0;
}
