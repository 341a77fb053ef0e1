/* profil(2) of 4.4BSD: for <unistd.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_BSD_PROFIL_H
#define PCTALLY_COMPAT_BSD_PROFIL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"
#include "uncast.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_bsd_profil
#else
extern int profil(char *samples, __SIZE_TYPE__ size, unsigned long offset,
                  unsigned int scale) __asm__("pctally_bsd_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
