/* <mon.h> of AIX: profil() and its struct prof, monitor(), monstartup() and moncontrol(). */
#ifndef PCTALLY_COMPAT_AIX_MON_H
#define PCTALLY_COMPAT_AIX_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

/* The C library declares its own there: they are renamed before the names are taken. Our headers of these
 * names do it, too, for sources that include them; but they may not be found where this one is included by
 * its path. */
#pragma push_macro("profil")
#pragma push_macro("monstartup")
#undef profil
#undef monstartup
#define profil pctally_c_library_profil
#define monstartup pctally_c_library_monstartup
#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h>
#endif
#include <sys/types.h>
#include <unistd.h>
#pragma pop_macro("profil")
#pragma pop_macro("monstartup")

#ifndef __USE_MISC /* strict ISO C (-std=c99): the C library hides the types that the page names */
typedef char *caddr_t;
typedef unsigned int uint;
#endif

#define _PROF_TYPE_IS_P (-1)
#define _PROF_TYPE_IS_PG 1
#define _PROF_TYPE_IS_NONE 0

#define MON_OUT "mon.out"
#define GMON_OUT "gmon.out"

#ifndef ROUNDUP
#define ROUNDDOWN(x, y) (((x) / (y)) * (y))
#define ROUNDUP(x, y) ((((x) + (y)-1) / (y)) * (y))
#endif

/* A buffer with one counter for each instruction of POWER: 4 bytes of code. */
#ifndef HISTCOUNTER
#define HISTCOUNTER unsigned short
#endif
#define HIST_CNT_MAX 65535
#define HIST_COUNTER_SIZE sizeof(HISTCOUNTER)
#define INST_MIN_LENGTH 4
#define INST_PER_CNT 1
#define INST_CNT_SIZE (INST_MIN_LENGTH * INST_PER_CNT)
#define HIST_NUM_COUNTERS(range) (((range) + INST_CNT_SIZE - 1) / INST_CNT_SIZE)
#define HIST_STG_SIZE(range) (HIST_NUM_COUNTERS(range) * HIST_COUNTER_SIZE)
#define HIST_SCALE_1_TO_1 0x8000

/* The room that a source adds to its buffer for call counts, which are never raised here. */
typedef unsigned short HASH_LINK;
#define HASH_LINK_SIZE sizeof(HASH_LINK)
#define MIN_SUBR_SPAN 4
#define NUM_HASH_LINKS(range) (((range) + MIN_SUBR_SPAN - 1) / MIN_SUBR_SPAN)
#define FROM_STG_SIZE(range) (NUM_HASH_LINKS(range) * HASH_LINK_SIZE)
#define tostruct pctally_aix_tostruct /* the C library's <sys/gmon.h> has another, and other values */
#undef ARCDENSITY
#undef MINARCS
#undef MAXARCS
#define ARCDENSITY 2
#define WHATSIT 100
#define MINARCS 50
#define MAXARCS 600
#define TO_NUM_ELEMENTS(range) ((range)*ARCDENSITY / WHATSIT)
#define TO_MAX 65535

#ifdef __cplusplus
extern "C" {
#endif

struct prof {
  char *p_low;
  char *p_high;
  HISTCOUNTER *p_buff;
  int p_bufsize;
  unsigned int p_scale;
};

struct frag {
  char *p_low;
  char *p_high;
};

struct poutcnt {
  char *fnpc;
  unsigned long mcnt;
};

struct tostruct {
  char *selfpc;
  long count;
  HASH_LINK link;
};

struct gfctl {
  HASH_LINK *froms;
  char *fromlowpc;
  unsigned int fromlimit;
  struct tostruct *tos;
  HASH_LINK tolimit;
};

/* The calls read prof_type alone. They do not read, set or free the other members, such as monstubuf. */
struct monglobal {
  int prof_type;
  int profiling;
  char *sbuf;
  int ssiz;
  char *hbuf;
  int hsiz;
  char *ProfBuf;
  int ProfBufSiz;
  unsigned long ProfLoPC;
  unsigned int ProfScale;
  union countbase {
    struct poutcnt *pcountbase;
    struct gfctl *pgcountbase;
  } cb;
  union countlimit {
    struct poutcnt *pcountlimit;
    struct gfctl *pgcountlimit;
  } cl;
  struct poutcnt *pnextcounter;
  char *monstubuf;
};
extern struct monglobal _mondata __asm__("pctally_aix_mondata");

#ifdef __cplusplus
}
#endif

#include "../aix_calls.h"

#ifndef PCTALLY_SOURCE_DECLARES
#ifdef __cplusplus
extern "C" {
#endif
/* For sources that take an address. Not in aix_calls.h: sources without a header may use the name. */
extern int(monitor)(caddr_t low, caddr_t high, HISTCOUNTER *buffer, int bufsize,
                    int nfunc) __asm__("pctally_aix_monitor");
extern int(monstartup)(caddr_t low, caddr_t high) __asm__("pctally_aix_monstartup");
#ifdef __cplusplus
}
#endif
#endif

#endif
