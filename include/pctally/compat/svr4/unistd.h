/* <unistd.h> of System V Release 4: profil(2). */
#ifndef PCTALLY_COMPAT_SVR4_UNISTD_H
#define PCTALLY_COMPAT_SVR4_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include_next <unistd.h> /* declares the C library's profil before the name is taken */

#ifdef __cplusplus
extern "C" {
#endif

extern int pctally_svr4_profil(unsigned short *buff, unsigned int bufsiz, size_t offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#define profil pctally_svr4_profil

#endif
