/* <unistd.h> of 4.4BSD: profil(2). */
#ifndef PCTALLY_COMPAT_BSD_UNISTD_H
#define PCTALLY_COMPAT_BSD_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include <sys/types.h>
#include_next <unistd.h> /* declares the C library's profil before the name is taken */

#ifdef __cplusplus
extern "C" {
#endif

extern int pctally_bsd_profil(char *samples, size_t size, unsigned long offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#define profil pctally_bsd_profil

#endif
