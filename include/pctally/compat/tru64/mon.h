/* <mon.h> of Tru64 UNIX: monitor(3), monstartup(3), moncontrol(3). */
#ifndef PCTALLY_COMPAT_TRU64_MON_H
#define PCTALLY_COMPAT_TRU64_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#include "../declarations.h"

#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h> /* renames the C library's monstartup before the name is taken */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MON_OUT "mon.out"

struct monitor_args {
  void *lowpc;
  void *highpc;
  unsigned int *buffer;
  size_t bufsiz;
};

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
