/* aix.h - the profil() of AIX, both forms.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/aix. Thread-safe, not async-signal-safe. Profiling
 * remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_AIX_H
#define PCTALLY_AIX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pctally_aix_prof {
  char *p_low;
  char *p_high; /* the first pc behind the range; 0 in the entry that ends the array */
  unsigned short *p_buff;
  int p_bufsize;        /* bytes */
  unsigned int p_scale; /* -1: from the sizes of range and buffer */
};

/* One range, 16-bit counters that stay at 65535, the low 16 bits of scale; 2: every pc from offset on in the
 * first counter; 0 and 1 end it. With bufsize -1, buffer is an array of struct pctally_aix_prof by ascending
 * p_high; a first p_high of 0 ends it. Turning on while on, off while off, and off by the other form have no
 * effect. Returns 0, or -1 with errno: EFAULT, EINVAL (p_high not ascending), EAGAIN, ENOMEM. */
int pctally_aix_profil(void *buffer, unsigned int bufsize, unsigned long offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#endif
