/* monitor(3) of 4.3BSD, under the name that macOS has for its header. The buffer's size is in
 * bytes. It lacks moninit, monoutput and monreset of that header. */
#ifndef PCTALLY_COMPAT_BSD_MONITOR_H
#define PCTALLY_COMPAT_BSD_MONITOR_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/gmon.h>

#include "../bsd_monitor_call.h"

#ifndef PCTALLY_SOURCE_DECLARES
#ifdef __cplusplus
extern "C" {
#endif
/* For sources that take an address. Not in bsd_monitor_call.h: sources without a header may use the name. */
extern void(monitor)(int (*lowpc)(void), int (*highpc)(void), short *buffer, int bufsize,
                     int nfunc) __asm__("pctally_bsd_monitor");
#ifdef __cplusplus
}
#endif
#endif

#endif
