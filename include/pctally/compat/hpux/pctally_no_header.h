/* The profiling calls of HP-UX and no other name, for sources that call them without including a header:
 * cc $(pkg-config --cflags pctally-hpux) $(pkg-config --variable=no_header pctally-hpux) ... */
#ifndef PCTALLY_COMPAT_HPUX_NO_HEADER_H
#define PCTALLY_COMPAT_HPUX_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../hpux_monitor.h"
#include "../hpux_profil.h"

#endif
