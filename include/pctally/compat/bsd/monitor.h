/* monitor(3) of 4.3BSD, under the name that macOS has for its header. The buffer's size is in
 * bytes. It lacks moninit, monoutput and monreset of that header. */
#ifndef PCTALLY_COMPAT_BSD_MONITOR_H
#define PCTALLY_COMPAT_BSD_MONITOR_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/gmon.h>

#include "../bsd_monitor_call.h"

#endif
