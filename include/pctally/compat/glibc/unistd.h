/* <unistd.h> as it is, with another profil(3) behind it. */
#ifndef PCTALLY_COMPAT_GLIBC_UNISTD_H
#define PCTALLY_COMPAT_GLIBC_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include_next <unistd.h> /* declares the C library's profil before the name is taken */

#ifdef __cplusplus
extern "C" {
#endif

extern int pctally_glibc_profil(unsigned short *sample_buffer, size_t size, size_t offset,
                                unsigned int scale);

#ifdef __cplusplus
}
#endif

#define profil pctally_glibc_profil

#endif
