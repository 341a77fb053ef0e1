/* The profiling calls of AIX and no other name, for sources that call them without including a header:
 * cc $(pkg-config --cflags pctally-aix) $(pkg-config --variable=no_header pctally-aix) ... */
#ifndef PCTALLY_COMPAT_AIX_NO_HEADER_H
#define PCTALLY_COMPAT_AIX_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../aix_calls.h"

#endif
