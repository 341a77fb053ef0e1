/* <mon.h> of HP-UX 11i: monitor(3C) and smonitor(3C). */
#ifndef PCTALLY_COMPAT_HPUX_MON_H
#define PCTALLY_COMPAT_HPUX_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include <sys/profil.h>

#include "../declarations.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MON_OUT "mon.out"
#define MPROGS0 600
#define MSCALE0 4

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

struct text_region {
  unsigned long text_start;
  unsigned long text_end;
  char *name;
};

extern void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void), WORD *buffer, int bufsize,
                                 int nfunc);
extern void smonitor(struct text_region *regions, int nregions, void *buffer, size_t bufsize, int nfunc,
                     unsigned int flags) __asm__("pctally_hpux_smonitor");

#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname monitor pctally_hpux_monitor
#endif

#ifdef __cplusplus
}
#endif

#ifndef PCTALLY_SOURCE_DECLARES
/* Sources pass functions of any type, and end with monitor(0) or five zeros. */
#define PCTALLY_MONITOR(low, high, buffer, size, functions, ...)                                     \
  pctally_hpux_monitor((void (*)(void))(low), (void (*)(void))(high), (WORD *)(buffer), (int)(size), \
                       (int)(functions))
#define PCTALLY_ANY_MONITOR(...) PCTALLY_MONITOR(__VA_ARGS__, 0, 0, 0, 0, 0)
#define monitor(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_ANY_MONITOR, monitor, __VA_ARGS__)
#endif

#endif
