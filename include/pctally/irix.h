/* irix.h - the sprofil(2) of IRIX.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/irix. Thread-safe, not async-signal-safe.
 * Profiling remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_IRIX_H
#define PCTALLY_IRIX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timeval;

enum pctally_irix_flag { PCTALLY_IRIX_USHORT = 1, PCTALLY_IRIX_UINT = 2, PCTALLY_IRIX_FAST = 4 };

/* sysconf has no name for it; PROFIL_MAX of <sys/profil.h>. */
#define PCTALLY_IRIX_PROFIL_MAX 100

struct pctally_irix_prof {
  void *pr_base;
  unsigned int pr_size;
  uintptr_t pr_off;
  unsigned int pr_scale;
};

/* As HP-UX's, but in any order and with overlaps: of two ranges with the pc the one with the larger pr_off
 * counts, of two with the same the first. PCTALLY_IRIX_FAST: ten ticks per clock tick. Returns 0, or -1 with
 * errno: E2BIG, EFAULT, EINVAL, EAGAIN, ENOMEM. */
int pctally_irix_sprofil(struct pctally_irix_prof *profp, int profcnt, struct timeval *tick,
                         unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
