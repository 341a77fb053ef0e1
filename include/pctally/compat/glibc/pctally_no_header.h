/* The profiling calls of the GNU C library and no other name, for sources that call them without including a
 * header: cc $(pkg-config --cflags pctally-glibc) $(pkg-config --variable=no_header pctally-glibc) ... */
#ifndef PCTALLY_COMPAT_GLIBC_NO_HEADER_H
#define PCTALLY_COMPAT_GLIBC_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../glibc_monitor.h"
#include "../glibc_profil.h"

#endif
