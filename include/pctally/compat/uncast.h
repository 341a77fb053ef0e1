/* Sources of these systems pass an address where the page has a number, set members of structures so, and mix
 * buffers of different types, all without a cast. Their compilers warned, as ours did before GCC 14 and Clang
 * 15, where this is an error. C++ never allowed it. */
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
