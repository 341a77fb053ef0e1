/* svr4.h - the profil(2) of System V Release 4.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/svr4. Thread-safe, not async-signal-safe.
 * Profiling remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_SVR4_H
#define PCTALLY_SVR4_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One range, 16-bit counters. Scale 2: every pc from offset on in the first counter; 0 and 1 end it. The
 * tick that brings a counter to 32767 ends it too (PCTALLY_SVR4_PROFIL=illumos in the environment: the tick
 * after that). offset is as wide as an address of this machine. Returns 0, or -1 with errno EAGAIN or ENOMEM
 * where this machine has no timer left. */
int pctally_svr4_profil(unsigned short *buff, unsigned int bufsiz, size_t offset, unsigned int scale);

/* monitor(3C): profil over [lowpc, highpc), and the file mon.out when it ends. `bufsize` counts short words;
 * the buffer holds a header (struct hdr of <mon.h>), `nfunc` call counts, which nobody raises here, and the
 * counters, in this order, and is cleared. A lowpc of 0 ends it and writes, by PROFDIR: unset, mon.out in the
 * current directory; empty, no file; else PROFDIR/pid.program. With PCTALLY_MONITOR=gmon.out in the
 * environment a gmon.out for gprof(1) takes its place. No result: errno is set to EINVAL (no room for a
 * counter, lowpc not below highpc), EFAULT, EAGAIN or ENOMEM for a call that was ignored; a file that cannot
 * be written is one line on standard error. */
void pctally_svr4_monitor(int (*lowpc)(void), int (*highpc)(void), unsigned short *buffer, size_t bufsize,
                          size_t nfunc);

#ifdef __cplusplus
}
#endif

#endif
