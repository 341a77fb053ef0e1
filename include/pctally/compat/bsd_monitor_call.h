/* monitor(3) of 4.3BSD: for <monitor.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_BSD_MONITOR_CALL_H
#define PCTALLY_COMPAT_BSD_MONITOR_CALL_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_bsd_monitor(int (*lowpc)(void), int (*highpc)(void), short *buffer, int bufsize,
                                int nfunc);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monitor pctally_bsd_monitor
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* Sources pass functions of any type, and end with monitor(0) or five zeros. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                   \
  pctally_bsd_monitor((int (*)(void))(low), (int (*)(void))(high), (short *)(buffer), (int)(size), \
                      (int)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#endif

#endif
