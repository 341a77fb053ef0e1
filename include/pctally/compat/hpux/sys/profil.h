/* <sys/profil.h> of HP-UX 11i, in place of the C library's own: sprofil(2), and profil(2), which its page
 * names. */
#ifndef PCTALLY_COMPAT_HPUX_SYS_PROFIL_H
#define PCTALLY_COMPAT_HPUX_SYS_PROFIL_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#include "../../hpux_clock.h"
#include "../../hpux_profil.h"
#include "../../uncast.h"

#define PROF_USHORT 1
#define PROF_UINT 2
#define PROF_UINT64 4

#ifdef __cplusplus
extern "C" {
#endif

struct timeval;

struct prof {
  void *pr_base;
  unsigned int pr_size;
  void *pr_offset;
  unsigned int pr_scale;
};

extern int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
                   unsigned int flags) __asm__("pctally_hpux_sprofil");

#ifdef __cplusplus
}
#endif

#endif
