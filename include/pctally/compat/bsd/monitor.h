/* <monitor.h> of macOS, and monitor(3) of 4.3BSD. */
#ifndef PCTALLY_COMPAT_BSD_MONITOR_H
#define PCTALLY_COMPAT_BSD_MONITOR_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/gmon.h>

#ifdef __cplusplus
extern "C" {
#endif

extern void pctally_bsd_monitor(int (*lowpc)(void), int (*highpc)(void), short *buffer, int bufsize,
                                int nfunc);

#ifdef __cplusplus
}
#endif

/* Sources pass functions of any type, and end with monitor(0) or five zeros. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                   \
  pctally_bsd_monitor((int (*)(void))(low), (int (*)(void))(high), (short *)(buffer), (int)(size), \
                      (int)(functions))
#define monitor(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)

#endif
