/* <sys/gmon.h> of 4.4BSD: monstartup, moncontrol, _mcleanup, and the names that a gmon.c of its own needs. It
 * takes the place of the C library's <sys/gmon.h>. */
#ifndef PCTALLY_COMPAT_BSD_SYS_GMON_H
#define PCTALLY_COMPAT_BSD_SYS_GMON_H
#pragma GCC system_header /* no warnings in the caller's name */

#include <sys/types.h>

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

#include "../../bsd_start.h"

#endif
