/* <mon.h> of System V Release 4: monitor(3C). */
#ifndef PCTALLY_COMPAT_SVR4_MON_H
#define PCTALLY_COMPAT_SVR4_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MON_OUT "mon.out"
#define MPROGS0 (150 * sizeof(WORD))
#define MSCALE0 4
#ifndef NULL
#define NULL 0
#endif

struct hdr {
  char *lpc;
  char *hpc;
  size_t nfns;
};

struct cnt {
  char *fnpc;
  long mcnt;
};

typedef unsigned short WORD;

#ifdef __cplusplus
}
#endif

#include "../svr4_monitor.h"

#ifndef PCTALLY_SOURCE_DECLARES
#ifdef __cplusplus
extern "C" {
#endif
/* For sources that take an address. Not in svr4_monitor.h: sources without a header may use the name. */
extern void(monitor)(int (*lowpc)(void), int (*highpc)(void), WORD *buffer, size_t bufsize,
                     size_t nfunc) __asm__("pctally_svr4_monitor");
#ifdef __cplusplus
}
#endif
#endif

#endif
