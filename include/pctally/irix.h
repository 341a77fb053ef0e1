/* irix.h - sprofil(2) and profil(2) of IRIX. Manual page: pctally-irix(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call them, unless its signal is a fault, SIGSYS or
 * a real-time signal and has interrupted such a call. After fork(2) profiling stays on in
 * both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-irix) ...
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

/* Most entries of a call: PROFIL_MAX of <sys/profil.h>. */
#define PCTALLY_IRIX_PROFIL_MAX 100

struct pctally_irix_prof {
  void *pr_base;
  unsigned int pr_size;
  uintptr_t pr_off;
  unsigned int pr_scale;
};

/* sprofil(2). Counts in profcnt (0 to 100) ranges, in any order, overlaps allowed: of the ranges that hold
 * a pc the one with the largest pr_off counts, of two with the same the first. A pc raises the counter at
 * byte (pc - pr_off) * pr_scale / 65536 of pr_base, rounded down to a counter. Counters stay at their
 * largest value. The last entry may be {pr_off 0, pr_scale 2}, the counter for every other pc; one with
 * pr_scale 0 or 1 is ignored. profcnt 0 ends profiling.
 *   tick   set to the time of a tick, unless NULL
 *   flags  PCTALLY_IRIX_UINT, 32-bit counters, else they have 16 bits; with PCTALLY_IRIX_FAST ten ticks per
 *          clock tick, of user mode alone where perf_event_open(2) is allowed
 * Returns 0, or -1 with errno and nothing changed: E2BIG (profcnt), EFAULT (profp or tick), EINVAL (an
 * unknown flag, or {0, 2} is not last), ENOMEM, EAGAIN (no timer or signal left); but EAGAIN of a call that
 * changes PCTALLY_IRIX_FAST ends profiling. */
int pctally_irix_sprofil(struct pctally_irix_prof *profp, int profcnt, struct timeval *tick,
                         unsigned int flags);

/* profil(2). pctally_irix_sprofil() of one entry with 16-bit counters: it replaces what is on, and a scale of
 * 0 or 1 ends profiling, whichever of the two calls began it.
 *   buff    the counters: any address
 *   bufsiz  bytes of them; an odd byte at the end is not used
 *   offset  address of the first byte of code; 0 with scale 2: the first counter is for every pc
 *   scale   bytes of counters per 65536 bytes of code
 * Returns 0, or -1 with errno and nothing changed: ENOMEM, EAGAIN (no timer or signal left). But EAGAIN ends
 * a profile that had PCTALLY_IRIX_FAST. */
int pctally_irix_profil(unsigned short *buff, unsigned int bufsiz, size_t offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#endif
