/* <unistd.h> as it is, with another profil(3) behind it. */
#ifndef PCTALLY_COMPAT_GLIBC_UNISTD_H
#define PCTALLY_COMPAT_GLIBC_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#include "../declarations.h"

#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's before the name is taken */
#undef profil

#ifdef __cplusplus
extern "C" {
#endif

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_glibc_profil
#else
extern int profil(unsigned short *sample_buffer, size_t size, size_t offset,
                  unsigned int scale) __asm__("pctally_glibc_profil");
#define profil(...) PCTALLY_CALL_OR_DECLARE(profil, profil, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
