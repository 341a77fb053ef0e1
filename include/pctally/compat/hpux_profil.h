/* profil(2) of HP-UX 11i: for <time.h> by its page, for <unistd.h>, where the C library has its own, and for
 * sources without a header. */
#ifndef PCTALLY_COMPAT_HPUX_PROFIL_H
#define PCTALLY_COMPAT_HPUX_PROFIL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"
#include "uncast.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_hpux_profil
#else
extern void profil(unsigned short *buff, __SIZE_TYPE__ bufsiz, __SIZE_TYPE__ offset,
                   unsigned int scale) __asm__("pctally_hpux_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
