/* <unistd.h> under AIX: the C library's without its profil, which <mon.h> has. */
#ifndef PCTALLY_COMPAT_AIX_UNISTD_H
#define PCTALLY_COMPAT_AIX_UNISTD_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#pragma push_macro("profil")
#undef profil
#define profil pctally_c_library_profil
#include_next <unistd.h> /* declares the C library's, whatever was included before */
#pragma pop_macro("profil")

#endif
