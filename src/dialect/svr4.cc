// profil(2) of System V Release 4.
#include "pctally/svr4.h"

#include "dialect/call.h"
#include "dialect/profil.h"

namespace pctally {
namespace {
constinit Session g_svr4("svr4");
}
}  // namespace pctally

using namespace pctally;

PCTALLY_DIALECT_CALL int pctally_svr4_profil(unsigned short* buff, unsigned int bufsiz, size_t offset,
                                             unsigned int scale) {
  SessionLock lock;
  if (meaning_of(kSvr4Profil, scale) != ScaleMeaning::kOff)
    return told(start_one(g_svr4, kSvr4Profil, {buff, bufsiz}, offset, scale));
  g_svr4.stop();
  return 0;
}
