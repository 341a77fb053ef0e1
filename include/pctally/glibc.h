/* glibc.h - profil(3), sprofil(3) and monstartup of the GNU C library. Manual page: pctally-glibc(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil and sprofil, no other one, unless its
 * signal is a fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling
 * stays on in both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-glibc)
 * ...
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

/* profil(3). Counts in one range of code, by 16-bit counters that wrap.
 *   sample_buffer  the counters: any address; NULL: profiling ends
 *   size           bytes of them; an odd byte at the end is not used
 *   offset         address of the first byte of code
 *   scale          bytes of counters per 65536 bytes of code; 0: every pc at all goes to the first counter
 * A pc raises counter (pc - offset) / 2 * scale / 65536. Returns 0, or -1 with errno EAGAIN or ENOMEM, and
 * nothing has changed; but EAGAIN in place of a profile with PCTALLY_GLIBC_FAST ends profiling. */
int pctally_glibc_profil(unsigned short *sample_buffer, size_t size, size_t offset, unsigned int scale);

/* sprofil(3). Counts in profcnt (0 to 65536) ranges, in any order, overlaps allowed: of the ranges that
 * hold a pc the one with the largest pr_off counts, of two with the same the first. Counters stay at their
 * largest value. An entry {pr_off 0, pr_scale 2} is the counter for every other pc; it wraps. Entries with
 * a pr_scale of 0 or 1 are ignored. profcnt 0 ends profiling.
 *   tick   set to the time of a tick, unless NULL
 *   flags  PCTALLY_GLIBC_UINT: 32-bit counters, otherwise 16; PCTALLY_GLIBC_FAST: a tick every 1 ms, of user
 *          mode alone where perf_event_open(2) is allowed
 * Returns 0, or -1 with errno and nothing changed: EFAULT (profp or tick), EINVAL (profcnt or flags),
 * ENOMEM, EAGAIN (no timer or signal left); but EAGAIN of a call that changes PCTALLY_GLIBC_FAST ends
 * profiling. */
int pctally_glibc_sprofil(struct pctally_glibc_prof *profp, int profcnt, struct timeval *tick,
                          unsigned int flags);

/* monstartup. Profiles [lowpc, highpc) with counters of its own: 32 bits for every 4 bytes of code.
 * pctally_glibc_mcleanup(), which is _mcleanup(), writes gmon.out, or prefix.pid where the environment has
 * GMON_OUT_PREFIX=prefix; so does the end of the process. There is no result: errno is set to EINVAL (empty
 * range; nothing has changed), EAGAIN or ENOMEM (what was on has ended, and its file is written). */
void pctally_glibc_monstartup(unsigned long lowpc, unsigned long highpc);
/* moncontrol. Mode 0 halts the profile of monstartup, any other mode resumes it. Does nothing without one. */
void pctally_glibc_moncontrol(int mode);
/* _mcleanup. Ends the profile and writes its file. Does nothing without one. */
void pctally_glibc_mcleanup(void);

#ifdef __cplusplus
}
#endif

#endif
