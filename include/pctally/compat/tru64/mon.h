/* <mon.h> of Tru64 UNIX: monitor(3), monstartup(3), moncontrol(3). */
#ifndef PCTALLY_COMPAT_TRU64_MON_H
#define PCTALLY_COMPAT_TRU64_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

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

#ifdef __cplusplus
}
#endif

#include "../tru64_monitor.h"

#endif
