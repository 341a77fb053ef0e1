/* <time.h> of HP-UX 11i: also declares profil(2). */
#ifndef PCTALLY_COMPAT_HPUX_TIME_H
#define PCTALLY_COMPAT_HPUX_TIME_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include_next <time.h>
#include <unistd.h> /* the C library declares a profil there: it has to be seen before the name is taken */

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_hpux_profil(unsigned short *buff, size_t bufsiz, size_t offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#define profil pctally_hpux_profil

#endif
