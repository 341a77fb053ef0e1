/* svr4.h - profil(2) and monitor(3C) of System V Release 4. Manual page: pctally-svr4(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil, no other one, unless its signal is a
 * fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling stays on in
 * both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-svr4) ...
 */
#ifndef PCTALLY_SVR4_H
#define PCTALLY_SVR4_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* profil(2). Counts in one range of code, by 16-bit counters.
 *   buff    the counters: any address; an odd byte at the end is not used
 *   bufsiz  bytes of them; 0: nothing is counted
 *   offset  address of the first byte of code; as wide as an address of this machine
 *   scale   bytes of counters per 65536 bytes of code, 2 to 2^32 - 1; 2: every pc from offset on goes to
 *           the first counter, or, with PCTALLY_SVR4_PROFIL=manual in the environment, each counter is for
 *           65536 bytes, as the page has it; 0 and 1: profiling ends
 * A pc raises the counter at byte (pc - offset) * scale / 65536 of buff, rounded down to an even one, if
 * that is less than bufsiz. "Once one of the counts reaches 32767 ..., profiling stops"; with
 * PCTALLY_SVR4_PROFIL=illumos in the environment it stops one tick later. Returns 0, or -1 with errno
 * EAGAIN (no timer or signal left) or ENOMEM, and nothing has changed. */
int pctally_svr4_profil(unsigned short *buff, unsigned int bufsiz, size_t offset, unsigned int scale);

/* monitor(3C). Profiles [lowpc, highpc) by this system's profil and writes mon.out at the end.
 *   buffer   cleared by the call; holds struct hdr of <mon.h>, nfunc call counts, which are never raised,
 *            and the counters
 *   bufsize  16-bit words in buffer
 *   nfunc    call counts
 * A lowpc of 0 ends it and writes the file. PROFDIR names the file: unset, the usual name in the current
 * directory; empty, no file; otherwise PROFDIR/pid.program. With PCTALLY_MONITOR=gmon.out in the
 * environment the file is a gmon.out for gprof(1). There is no result: a call that is wrong is ignored and
 * sets errno to EINVAL (less than a counter for every 43690 bytes of code, since scale 2 of profil divides
 * none; or lowpc not below highpc) or EFAULT (buffer cannot be written). With errno EAGAIN or ENOMEM nothing
 * is on any more. A file that cannot be written is one line on standard error. */
void pctally_svr4_monitor(int (*lowpc)(void), int (*highpc)(void), unsigned short *buffer, size_t bufsize,
                          size_t nfunc);

#ifdef __cplusplus
}
#endif

#endif
