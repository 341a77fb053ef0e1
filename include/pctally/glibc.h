/* glibc.h - profil(3) and sprofil(3) with the GNU C library's types.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/glibc. Thread-safe, not async-signal-safe.
 * Profiling remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_GLIBC_H
#define PCTALLY_GLIBC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timeval;

enum pctally_glibc_flag { PCTALLY_GLIBC_USHORT = 0, PCTALLY_GLIBC_UINT = 1, PCTALLY_GLIBC_FAST = 2 };

struct pctally_glibc_prof {
  void *pr_base;
  size_t pr_size;
  size_t pr_off;
  unsigned long pr_scale;
};

/* One range, 16-bit counters that wrap. A null buffer ends it; scale 0 puts every pc at all into the first
 * counter. Returns 0, or -1 with errno EAGAIN or ENOMEM. */
int pctally_glibc_profil(unsigned short *sample_buffer, size_t size, size_t offset, unsigned int scale);

/* Any order; counters of ranges stay at their largest value, that of the overflow entry wraps. profcnt 0 ends
 * it. Returns 0, or -1 with errno: EFAULT, EINVAL, EAGAIN, ENOMEM. */
int pctally_glibc_sprofil(struct pctally_glibc_prof *profp, int profcnt, struct timeval *tick,
                          unsigned int flags);

/* Profiles [lowpc, highpc) with counters of its own, 32 bits for every 4 bytes of text. The file gmon.out, or
 * prefix.pid where GMON_OUT_PREFIX is set, is written by pctally_glibc_mcleanup, which is _mcleanup, or when
 * the process ends. No result: errno is set to EINVAL, EAGAIN or ENOMEM, and nothing is on. */
void pctally_glibc_monstartup(unsigned long lowpc, unsigned long highpc);
/* 0 halts the profile, any other mode goes on with it; without one nothing happens. */
void pctally_glibc_moncontrol(int mode);
void pctally_glibc_mcleanup(void);

#ifdef __cplusplus
}
#endif

#endif
