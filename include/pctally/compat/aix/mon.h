/* <mon.h> of AIX: profil() and its struct prof. */
#ifndef PCTALLY_COMPAT_AIX_MON_H
#define PCTALLY_COMPAT_AIX_MON_H
#pragma GCC system_header /* #include_next, and no warnings in the caller's name */

#include <sys/types.h>
#include <unistd.h> /* the C library declares a profil there: it has to be seen before the name is taken */

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

extern int pctally_aix_profil(void *buffer, unsigned int bufsize, unsigned long offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

/* The two forms pass pointers and numbers in the same places. */
#define profil(buffer, size, offset, scale) \
  pctally_aix_profil((void *)(buffer), (unsigned int)(size), (unsigned long)(offset), (unsigned int)(scale))

#endif
