/* profil(3) of the GNU C library: for <unistd.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_GLIBC_PROFIL_H
#define PCTALLY_COMPAT_GLIBC_PROFIL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_glibc_profil
#else
extern int profil(unsigned short *sample_buffer, __SIZE_TYPE__ size, __SIZE_TYPE__ offset,
                  unsigned int scale) __asm__("pctally_glibc_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
