/* <unistd.h> of 4.4BSD: profil(2). */
#ifndef PCTALLY_COMPAT_BSD_UNISTD_H
#define PCTALLY_COMPAT_BSD_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include <sys/types.h>

#pragma push_macro("profil")
#undef profil
#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's, whatever was included before */
#pragma pop_macro("profil")

#include "../bsd_profil.h"

#endif
