/* <unistd.h> of Tru64 UNIX: profil(2). */
#ifndef PCTALLY_COMPAT_TRU64_UNISTD_H
#define PCTALLY_COMPAT_TRU64_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#pragma push_macro("profil")
#undef profil
#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's, whatever was included before */
#pragma pop_macro("profil")

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

#ifdef __cplusplus
}
#endif

#include "../tru64_profil.h"

#endif
