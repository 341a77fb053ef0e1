// libpctally-glibc.so: profil and sprofil under the names, types and symbol versions of the C library, for
// programs that were built long ago.
//
// Preloaded, or linked before libc, it answers the program's calls; it does nothing until the first one. The
// C library's own -pg start-up calls its profil() inside itself and is not answered here.
#include <sys/profil.h>
#include <unistd.h>

#include "dialect/call.h"
#include "pctally/glibc.h"

static_assert(sizeof(prof) == sizeof(pctally_glibc_prof));
static_assert(offsetof(prof, pr_size) == offsetof(pctally_glibc_prof, pr_size));
static_assert(offsetof(prof, pr_off) == offsetof(pctally_glibc_prof, pr_off));
static_assert(offsetof(prof, pr_scale) == offsetof(pctally_glibc_prof, pr_scale));
static_assert(int{PROF_UINT} == int{PCTALLY_GLIBC_UINT} && int{PROF_FAST} == int{PCTALLY_GLIBC_FAST});

PCTALLY_DIALECT_CALL int profil(unsigned short* sample_buffer, size_t size, size_t offset,
                                unsigned int scale) noexcept {
  return pctally_glibc_profil(sample_buffer, size, offset, scale);
}

PCTALLY_DIALECT_CALL int sprofil(prof* profp, int profcnt, timeval* tick, unsigned int flags) noexcept {
  return pctally_glibc_sprofil(reinterpret_cast<pctally_glibc_prof*>(profp), profcnt, tick, flags);
}
