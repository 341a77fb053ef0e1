/* monitor(3C) of HP-UX 11i: for <mon.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_HPUX_MONITOR_H
#define PCTALLY_COMPAT_HPUX_MONITOR_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void), unsigned short *buffer,
                                 int bufsize, int nfunc);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monitor pctally_hpux_monitor
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* Sources pass functions of any type, and end with monitor(0) or five zeros. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                  \
  pctally_hpux_monitor((void (*)(void))(low), (void (*)(void))(high), (unsigned short *)(buffer), \
                       (int)(size), (int)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#endif

#endif
