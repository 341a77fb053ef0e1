/* <unistd.h> of System V Release 4: profil(2). */
#ifndef PCTALLY_COMPAT_SVR4_UNISTD_H
#define PCTALLY_COMPAT_SVR4_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#include "../declarations.h"
#include "../uncast.h"

#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's before the name is taken */
#undef profil

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_svr4_profil
#else
/* System V's own has an unsigned int for the offset: here it is as wide as an address. */
extern int profil(unsigned short *buff, unsigned int bufsiz, size_t offset,
                  unsigned int scale) __asm__("pctally_svr4_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
