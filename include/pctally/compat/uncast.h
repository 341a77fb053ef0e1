/* What the headers need whose profil is declared by its types: sources pass it an address for a number, and
 * buffers of other types, without a cast. The compilers of these systems warned, as ours did before GCC 14 and
 * Clang 15, where both are errors. C++ never allowed them. */
#ifndef PCTALLY_COMPAT_UNCAST_H
#define PCTALLY_COMPAT_UNCAST_H
#pragma GCC system_header /* no warnings in the caller's name */

#if !defined(__cplusplus)
#if defined(__clang__) ? __clang_major__ >= 15 : __GNUC__ >= 14
#pragma GCC diagnostic warning "-Wint-conversion"
#pragma GCC diagnostic warning "-Wincompatible-pointer-types"
#endif
#endif

#endif
