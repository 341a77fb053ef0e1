/* The profiling calls of 4.4BSD and of 4.3BSD and no other name, for sources that call them without including
 * a header: cc $(pkg-config --cflags pctally-bsd) $(pkg-config --variable=no_header pctally-bsd) ... */
#ifndef PCTALLY_COMPAT_BSD_NO_HEADER_H
#define PCTALLY_COMPAT_BSD_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../bsd_monitor_call.h"
#include "../bsd_profil.h"
#include "../bsd_start.h"

#endif
