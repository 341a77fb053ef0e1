/* <sys/profil.h> of IRIX 6.5, in place of the C library's own. */
#ifndef PCTALLY_COMPAT_IRIX_SYS_PROFIL_H
#define PCTALLY_COMPAT_IRIX_SYS_PROFIL_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stdint.h>
#include <sys/types.h> /* as IRIX's own does: sources rely on it */

#include "../../irix_profil.h"
#include "../../uncast.h"

#define PROF_USHORT 0x0001
#define PROF_UINT 0x0002
#define PROF_FAST 0x0004
#define PROF_FAST_CNT 10
#define PROFIL_MAX 100

#ifdef __cplusplus
extern "C" {
#endif

typedef uintptr_t __psunsigned_t;
struct timeval;

struct prof {
  void *pr_base;
  unsigned int pr_size;
  __psunsigned_t pr_off;
  unsigned int pr_scale;
};

extern int sprofil(struct prof *profp, int profcnt, struct timeval *tvp,
                   unsigned int flags) __asm__("pctally_irix_sprofil");

#ifdef __cplusplus
}
#endif

#endif
