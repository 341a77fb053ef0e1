/* bsd.h - profil(2) of 4.4BSD and its descendants, monitor(3) of 4.3BSD, and moncontrol(3).
 * Manual page: pctally-bsd(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil, no other one, unless its signal is a
 * fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling stays on in
 * both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-bsd) ...
 */
#ifndef PCTALLY_BSD_H
#define PCTALLY_BSD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* profil(2). Counts in one range of code, by 16-bit counters that wrap.
 *   samples  the counters: any address; an odd byte at the end is not used
 *   size     bytes of them; every byte must be writable: to find out, the call makes every page resident
 *            and fills the holes of a sparse file
 *   offset   "the lowest address at which the kernel takes program counter samples"
 *   scale    1 to 65536: bytes of counters per 65536 bytes of code; 0: profiling ends
 * A pc raises counter (pc - offset) * scale / 65536 / 2, as the kernels of the family compute it. The page
 * divides first, "[(pc - offset) / 2] * scale / 65536"; the two differ at odd distances where the scale is
 * no power of two. PCTALLY_BSD_PROFIL=manual in the environment counts by the page. Returns 0, or -1 with
 * errno: EFAULT (scale is not 0 and a byte of samples cannot be written; profiling has ended), EINVAL (scale
 * above 65536; nothing has changed), EAGAIN, ENOMEM. With PCTALLY_BSD_PROFIL=macos every call fails with
 * EINVAL, as on macOS. */
int pctally_bsd_profil(char *samples, size_t size, unsigned long offset, unsigned int scale);

/* monitor(3) of 4.3BSD: as pctally_svr4_monitor() in svr4.h, by this profil: it needs a counter for every
 * 65536 bytes of code. bufsize is in bytes; an odd one is not used. Negative sizes count as 0. */
void pctally_bsd_monitor(int (*lowpc)(void), int (*highpc)(void), short *buffer, int bufsize, int nfunc);

/* monstartup(3). Profiles [lowpc, highpc) with counters of its own: 16 bits for every 4 bytes of code; they
 * wrap. pctally_bsd_mcleanup(), which is _mcleanup(), writes gmon.out; so does the end of the process.
 * PROFDIR names the file: unset, the usual name in the current directory; empty, no file; otherwise
 * PROFDIR/pid.program. There is no result: errno is set to EINVAL (empty range; nothing has changed), EAGAIN
 * or ENOMEM (what was on has ended, and its file is written). */
void pctally_bsd_monstartup(unsigned long lowpc, unsigned long highpc);
/* moncontrol(3). Mode 0 halts the profile of monstartup, any other mode resumes it, also after
 * pctally_bsd_mcleanup() or pctally_bsd_monitor(0, ...) has ended it: the counters go on from where they
 * were, and the next end writes the file again. Without a profile it does nothing. */
void pctally_bsd_moncontrol(int mode);
/* _mcleanup(3). Ends the profile and writes its file. Does nothing without one that is on or halted. */
void pctally_bsd_mcleanup(void);

#ifdef __cplusplus
}
#endif

#endif
