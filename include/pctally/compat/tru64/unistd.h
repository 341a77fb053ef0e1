/* <unistd.h> of Tru64 UNIX: profil(2). */
#ifndef PCTALLY_COMPAT_TRU64_UNISTD_H
#define PCTALLY_COMPAT_TRU64_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include "../declarations.h"
#include "../uncast.h"

#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's before the name is taken */
#undef profil

#ifndef PCTALLY_COMPAT_TRU64_PROFIL
#define PCTALLY_COMPAT_TRU64_PROFIL
#ifdef __cplusplus
extern "C" {
#endif

struct profil_args {
  unsigned int *buffer;
  void *highpc;
  void *lowpc;
  void *offset;
  unsigned int scale;
};

extern void pctally_tru64_profil(void *buffer, long buffer_size, long offset, unsigned long scale_or_flags);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname profil pctally_tru64_profil
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

#endif
