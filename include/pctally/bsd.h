/* bsd.h - the profil(2) of 4.4BSD and its descendants.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/bsd. Thread-safe, not async-signal-safe. Profiling
 * remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_BSD_H
#define PCTALLY_BSD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One range, 16-bit counters that wrap. Scale 1 to 65536; 0 ends it. Returns 0, or -1 with errno: EINVAL
 * (scale above 65536), EFAULT (a byte of samples cannot be written; profiling has ended). With
 * PCTALLY_BSD_PROFIL=macos in the environment every call fails with EINVAL, as it does on macOS.
 *
 * The bin of a pc is (pc - offset) * scale / 65536 / 2, as the kernels of the family compute it. The manual
 * page divides first, "[(pc - offset) / 2] * scale / 65536", which differs at odd distances where the scale
 * is no power of two: PCTALLY_BSD_PROFIL=manual counts by the page. */
int pctally_bsd_profil(char *samples, size_t size, unsigned long offset, unsigned int scale);

/* monitor(3) of 4.3BSD: as pctally_svr4_monitor, over this profil. */
void pctally_bsd_monitor(int (*lowpc)(void), int (*highpc)(void), short *buffer, int bufsize, int nfunc);

/* Profiles [lowpc, highpc) with counters of its own, 16 bits for every 4 bytes of text; they wrap. The file
 * gmon.out (PROFDIR/pid.program; none if PROFDIR is empty) is written by pctally_bsd_mcleanup, which is
 * _mcleanup, or when the process ends. No result: errno is set to EINVAL, EAGAIN or ENOMEM, and nothing is
 * on. */
void pctally_bsd_monstartup(unsigned long lowpc, unsigned long highpc);
/* 0 halts the profile, any other mode goes on with it; without one nothing happens. */
void pctally_bsd_moncontrol(int mode);
void pctally_bsd_mcleanup(void);

#ifdef __cplusplus
}
#endif

#endif
