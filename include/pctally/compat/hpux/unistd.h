/* <unistd.h> of HP-UX 11i: sysconf(_SC_PROFIL_MAX). Its profil is HP-UX's, too, not the C library's. */
#ifndef PCTALLY_COMPAT_HPUX_UNISTD_H
#define PCTALLY_COMPAT_HPUX_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#pragma push_macro("profil")
#undef profil
#define profil pctally_c_library_profil
#define sysconf pctally_c_library_sysconf
#include_next <unistd.h> /* declares the C library's, whatever was included before */
#undef sysconf
#pragma pop_macro("profil")

#include "../hpux_profil.h"

#define _SC_PROFIL_MAX 0x5052 /* none of the C library's */

#ifdef __cplusplus
extern "C" {
#endif

/* A function, so that its address can be taken. The assembler has to know it by another name than the C
 * library's, which it calls. */
extern long pctally_hpux_other_sysconf(int name) __asm__("sysconf");
static __inline__ long sysconf(int name) __asm__("pctally_hpux_sysconf");
static __inline__ long sysconf(int name) {
  return name == _SC_PROFIL_MAX ? 1024 : pctally_hpux_other_sysconf(name);
}

#ifdef __cplusplus
}
#endif

#endif
