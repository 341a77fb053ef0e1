/* <unistd.h> of 4.4BSD: profil(2). */
#ifndef PCTALLY_COMPAT_BSD_UNISTD_H
#define PCTALLY_COMPAT_BSD_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include <sys/types.h>

#include "../declarations.h"
#include "../uncast.h"

#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's before the name is taken */
#undef profil

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_bsd_profil
#else
extern int profil(char *samples, size_t size, unsigned long offset,
                  unsigned int scale) __asm__("pctally_bsd_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
