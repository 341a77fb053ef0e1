/* profil(2) of IRIX: for <sys/profil.h>, for <unistd.h>, where the C library has its own, and for sources
 * without a header. */
#ifndef PCTALLY_COMPAT_IRIX_PROFIL_H
#define PCTALLY_COMPAT_IRIX_PROFIL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"
#include "uncast.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_irix_profil
#else
/* IRIX's own has an unsigned int for the offset: here it is as wide as an address. */
extern int profil(unsigned short *buff, unsigned int bufsiz, __SIZE_TYPE__ offset,
                  unsigned int scale) __asm__("pctally_irix_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
