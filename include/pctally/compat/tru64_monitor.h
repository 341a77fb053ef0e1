/* monitor(3), monstartup(3), moncontrol(3) of Tru64 UNIX: for <mon.h>, and for sources without a header. */
#ifndef PCTALLY_COMPAT_TRU64_MONITOR_H
#define PCTALLY_COMPAT_TRU64_MONITOR_H
#pragma GCC system_header /* no warnings in the caller's name */

#include "declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

extern int pctally_tru64_monitor(long lowpc, long highpc, void *buffer, long bufsize, long not_used);
extern int pctally_tru64_monstartup(void *lowpc, void *highpc);
extern int pctally_tru64_moncontrol(int mode);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monitor pctally_tru64_monitor
#pragma redefine_extname monstartup pctally_tru64_monstartup
#pragma redefine_extname moncontrol pctally_tru64_moncontrol
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* The two forms pass pointers and numbers in the same places, and monitor(0) ends either. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...) \
  pctally_tru64_monitor((long)(low), (long)(high), (void *)(buffer), (long)(size), (long)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define PCTALLY_MONSTARTUP(low, high) pctally_tru64_monstartup((void *)(low), (void *)(high))

#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#define monstartup(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_MONSTARTUP, monstartup, __VA_ARGS__)
#define moncontrol(...) PCTALLY_CALL_OR_DECLARE(pctally_tru64_moncontrol, moncontrol, __VA_ARGS__)
#endif

#endif
