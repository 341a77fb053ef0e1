/* <unistd.h> of IRIX 6.5: its profil is IRIX's, not the C library's. */
#ifndef PCTALLY_COMPAT_IRIX_UNISTD_H
#define PCTALLY_COMPAT_IRIX_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#pragma push_macro("profil")
#undef profil
#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's, whatever was included before */
#pragma pop_macro("profil")

#include "../irix_profil.h"

#endif
