/* <mon.h> of Tru64 UNIX: monitor(3), monstartup(3), moncontrol(3). */
#ifndef PCTALLY_COMPAT_TRU64_MON_H
#define PCTALLY_COMPAT_TRU64_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h> /* declares the C library's own before the names are taken */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define MON_OUT "mon.out"

struct monitor_args {
  void *lowpc;
  void *highpc;
  unsigned int *buffer;
  unsigned int bufsize;
};

extern void pctally_tru64_monitor(long lowpc, long highpc, void *buffer, long bufsize, long nfunc_or_flags);
extern void pctally_tru64_monstartup(void *lowpc, void *highpc);
extern void pctally_tru64_moncontrol(int mode);

#ifdef __cplusplus
}
#endif

/* The two forms pass pointers and numbers in the same places, and monitor(0) ends either. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...) \
  pctally_tru64_monitor((long)(low), (long)(high), (void *)(buffer), (long)(size), (long)(functions))
#define monitor(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define monstartup(low, high) pctally_tru64_monstartup((void *)(low), (void *)(high))
#define moncontrol(mode) pctally_tru64_moncontrol(mode)

#endif
