/* The profiling calls of System V Release 4 and no other name, for sources that call them without including a
 * header: cc $(pkg-config --cflags pctally-svr4) $(pkg-config --variable=no_header pctally-svr4) ... */
#ifndef PCTALLY_COMPAT_SVR4_NO_HEADER_H
#define PCTALLY_COMPAT_SVR4_NO_HEADER_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "../svr4_monitor.h"
#include "../svr4_profil.h"

#endif
