/* <sys/profil.h> of the GNU C library, with another sprofil(3) behind it. */
#ifndef PCTALLY_COMPAT_GLIBC_SYS_PROFIL_H
#define PCTALLY_COMPAT_GLIBC_SYS_PROFIL_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <features.h> /* as the C library's own does: sources rely on it */
#include <stddef.h>
#include <sys/time.h>
#include <sys/types.h>

enum { PROF_USHORT = 0, PROF_UINT = 1, PROF_FAST = 2 };

#ifdef __cplusplus
extern "C" {
#endif

struct prof {
  void *pr_base;
  size_t pr_size;
  size_t pr_off;
  unsigned long pr_scale;
};

extern int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
                   unsigned int flags) __asm__("pctally_glibc_sprofil");

#ifdef __cplusplus
}
#endif

#endif
