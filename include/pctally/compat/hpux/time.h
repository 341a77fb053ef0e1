/* <time.h> of HP-UX 11i: also declares profil(2). */
#ifndef PCTALLY_COMPAT_HPUX_TIME_H
#define PCTALLY_COMPAT_HPUX_TIME_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <time.h>

#include "../declarations.h"
#include "../uncast.h"

#define profil pctally_c_library_profil
#include <unistd.h> /* declares the C library's before the name is taken */
#undef profil

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_hpux_profil
#else
extern void profil(unsigned short *buff, size_t bufsiz, size_t offset,
                   unsigned int scale) __asm__("pctally_hpux_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
