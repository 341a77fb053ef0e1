/* <mon.h> of Tru64 UNIX: monitor(3), monstartup(3), moncontrol(3). */
#ifndef PCTALLY_COMPAT_TRU64_MON_H
#define PCTALLY_COMPAT_TRU64_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

/* The C library declares its own monstartup there: it is renamed before the name is taken. Our header of this
 * name does it, too; but it may not be found where this one is included by its path. */
#pragma push_macro("monstartup")
#undef monstartup
#define monstartup pctally_c_library_monstartup
#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h>
#endif
#pragma pop_macro("monstartup")

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

#ifdef __cplusplus
}
#endif

#include "../tru64_monitor.h"

#ifndef PCTALLY_SOURCE_DECLARES
#ifdef __cplusplus
extern "C" {
#endif
/* For sources that take an address. Not in tru64_monitor.h: sources without a header may use the name. */
extern int(monitor)(long lowpc, long highpc, void *buffer, long bufsize,
                    long not_used) __asm__("pctally_tru64_monitor");
extern int(monstartup)(void *lowpc, void *highpc) __asm__("pctally_tru64_monstartup");
extern int(moncontrol)(int mode) __asm__("pctally_tru64_moncontrol");
#ifdef __cplusplus
}
#endif
#endif

#endif
