/* <mon.h> of System V Release 4: monitor(3C). */
#ifndef PCTALLY_COMPAT_SVR4_MON_H
#define PCTALLY_COMPAT_SVR4_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>

#include "../declarations.h"

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

extern void pctally_svr4_monitor(int (*lowpc)(void), int (*highpc)(void), WORD *buffer, size_t bufsize,
                                 size_t nfunc);

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monitor pctally_svr4_monitor
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* Sources pass functions of any type, and end with monitor(0) or five zeros. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                      \
  pctally_svr4_monitor((int (*)(void))(low), (int (*)(void))(high), (WORD *)(buffer), (size_t)(size), \
                       (size_t)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#endif

#endif
