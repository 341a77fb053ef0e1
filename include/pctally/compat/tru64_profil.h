/* profil(2) of Tru64 UNIX: for <unistd.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_TRU64_PROFIL_H
#define PCTALLY_COMPAT_TRU64_PROFIL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"
#include "uncast.h"

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_tru64_profil(void *buffer, long buffer_size, long offset, unsigned long scale_or_flags);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_tru64_profil
#else
/* For sources that take its address or write (profil)(...). Calls go through the macro below. */
extern void profil(unsigned short *short_buffer, unsigned int buffer_size, void *offset,
                   unsigned int scale) __asm__("pctally_tru64_profil");
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* The two forms pass pointers and numbers in the same places. */
#define PCTALLY_PROFIL(buffer, size, offset, scale) \
  pctally_tru64_profil((void *)(buffer), (long)(size), (long)(offset), (unsigned long)(scale))
#define profil(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_PROFIL, profil, __VA_ARGS__)
#endif

#endif
