/* The profiling calls of Tru64 UNIX and no other name, for sources that call them without including a header:
 * cc $(pkg-config --cflags pctally-tru64) $(pkg-config --variable=no_header pctally-tru64) ... */
#ifndef PCTALLY_COMPAT_TRU64_NO_HEADER_H
#define PCTALLY_COMPAT_TRU64_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../tru64_monitor.h"
#include "../tru64_profil.h"

#endif
