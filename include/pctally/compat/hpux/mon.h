/* <mon.h> of HP-UX 11i: monitor(3C) and smonitor(3C). */
#ifndef PCTALLY_COMPAT_HPUX_MON_H
#define PCTALLY_COMPAT_HPUX_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <stddef.h>
#include <sys/profil.h>

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

extern void smonitor(struct text_region *regions, int nregions, void *buffer, size_t bufsize, int nfunc,
                     unsigned int flags) __asm__("pctally_hpux_smonitor");

#ifdef __cplusplus
}
#endif

#include "../hpux_monitor.h"

#ifndef PCTALLY_SOURCE_DECLARES
#ifdef __cplusplus
extern "C" {
#endif
/* For sources that take an address. Not in hpux_monitor.h: sources without a header may use the name. */
extern void(monitor)(void (*lowpc)(void), void (*highpc)(void), WORD *buffer, int bufsize,
                     int nfunc) __asm__("pctally_hpux_monitor");
#ifdef __cplusplus
}
#endif
#endif

#endif
