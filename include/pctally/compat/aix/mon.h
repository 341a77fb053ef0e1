/* <mon.h> of AIX: profil() and its struct prof, monitor(), monstartup() and moncontrol(). */
#ifndef PCTALLY_COMPAT_AIX_MON_H
#define PCTALLY_COMPAT_AIX_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

/* The C library declares its own there: our headers rename them before the names are taken. */
#if __has_include(<sys/gmon.h>)
#include <sys/gmon.h>
#endif
#include <sys/types.h>
#include <unistd.h>

#ifndef __USE_MISC /* strict ISO C (-std=c99): the C library hides the types that the page names */
typedef char *caddr_t;
typedef unsigned int uint;
#endif

#ifndef HISTCOUNTER
#define HISTCOUNTER unsigned short
#endif

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

#define _PROF_TYPE_IS_P (-1)
#define _PROF_TYPE_IS_PG 1
#define _PROF_TYPE_NO 0

struct monglobal {
  HISTCOUNTER *ProfBuf;
  int ProfBufSiz;
  char *ProfLoPC;
  unsigned int ProfScale;
  int prof_type;
};
extern struct monglobal _mondata __asm__("pctally_aix_mondata");

#ifdef __cplusplus
}
#endif

#include "../aix_calls.h"

#endif
