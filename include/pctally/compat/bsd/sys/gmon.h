/* <sys/gmon.h> of 4.4BSD: monstartup, moncontrol, _mcleanup, and the names that a gmon.c of its own needs. It
 * takes the place of the C library's <sys/gmon.h>. */
#ifndef PCTALLY_COMPAT_BSD_SYS_GMON_H
#define PCTALLY_COMPAT_BSD_SYS_GMON_H
#pragma GCC system_header /* no warnings in the caller's name */

#include <sys/types.h>

#include "../../declarations.h"

#ifndef __P
#define __P(arguments) arguments
#endif

struct gmonhdr {
  unsigned long lpc;
  unsigned long hpc;
  int ncnt;
  int version;
  int profrate;
  int spare[3];
};
#define GMONVERSION 0x00051879

#define HISTCOUNTER unsigned short
#define HISTFRACTION 2
#define HASHFRACTION 2
#define ARCDENSITY 2
#define MINARCS 50
#define MAXARCS ((1 << (8 * sizeof(HISTCOUNTER))) - 2)

struct tostruct {
  unsigned long selfpc;
  long count;
  unsigned short link;
  unsigned short pad;
};

struct rawarc {
  unsigned long raw_frompc;
  unsigned long raw_selfpc;
  long raw_count;
};

#define ROUNDDOWN(x, y) (((x) / (y)) * (y))
#define ROUNDUP(x, y) ((((x) + (y)-1) / (y)) * (y))

struct gmonparam {
  int state;
  unsigned short *kcount;
  unsigned long kcountsize;
  unsigned short *froms;
  unsigned long fromssize;
  struct tostruct *tos;
  unsigned long tossize;
  long tolimit;
  unsigned long lowpc;
  unsigned long highpc;
  unsigned long textsize;
  unsigned long hashfraction;
};
#define GMON_PROF_ON 0
#define GMON_PROF_BUSY 1
#define GMON_PROF_ERROR 2
#define GMON_PROF_OFF 3

#ifdef __cplusplus
extern "C" {
#endif

/* Sources pass monstartup numbers and pointers, and some define one of their own. In C a declaration without
 * parameters allows both. */
#ifdef PCTALLY_SOURCE_DECLARES
#pragma redefine_extname moncontrol pctally_bsd_moncontrol
#pragma redefine_extname _mcleanup pctally_bsd_mcleanup
#pragma redefine_extname monstartup pctally_bsd_monstartup
#else
extern void moncontrol(int mode) __asm__("pctally_bsd_moncontrol");
extern void _mcleanup(void) __asm__("pctally_bsd_mcleanup");
#define moncontrol(...) PCTALLY_CALL_OR_DECLARE(moncontrol, moncontrol, __VA_ARGS__)
#if defined(__cplusplus)
extern void monstartup(unsigned long lowpc, unsigned long highpc) __asm__("pctally_bsd_monstartup");
extern "C++" template <class Low, class High>
inline void monstartup(Low low, High high) {
  monstartup((unsigned long)low, (unsigned long)high);
}
#define PCTALLY_MONSTARTUP monstartup
#elif __STDC_VERSION__ >= 202000L
extern void pctally_bsd_monstartup(unsigned long lowpc, unsigned long highpc);
#define PCTALLY_MONSTARTUP(low, high) pctally_bsd_monstartup((unsigned long)(low), (unsigned long)(high))
#else
extern void monstartup() __asm__("pctally_bsd_monstartup");
#define PCTALLY_MONSTARTUP monstartup
#endif
#define monstartup(...) PCTALLY_CALL_OR_DECLARE(PCTALLY_MONSTARTUP, monstartup, __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#endif
