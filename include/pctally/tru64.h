/* tru64.h - profil(2), monitor(3), monstartup(3) and moncontrol(3) of Tru64 UNIX.
 * Manual page: pctally-tru64(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 1/1024 s of CPU time (of
 * user mode alone where perf_event_open(2) is allowed: the kernel's own tick is mostly longer), and raises
 * the counter that stands for it. Counters are changed atomically and can be read at any time. When a call
 * that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is unmapped
 * or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil, no other one, unless its signal is a
 * fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling stays on in
 * both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-tru64) ...
 */
#ifndef PCTALLY_TRU64_H
#define PCTALLY_TRU64_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pctally_tru64_profil_args {
  unsigned int *buffer;
  void *highpc; /* the first pc behind the range */
  void *lowpc;
  void *offset;
  unsigned int scale;
};

/* Ticks per second: getsysinfo(GSI_CLK_TCK). */
#define PCTALLY_TRU64_CLK_TCK 1024

/* profil(2). Classic form: counts in one range of code, by 16-bit counters that stay at 65535.
 *   buffer, buffer_size  the counters, in bytes; of buffer_size the low 32 bits count, in either form
 *   offset               address of the first byte of code
 *   scale_or_flags       bytes of counters per 65536 bytes of code; 2: every pc from offset on goes to the
 *                        first counter; 0 and 1: profiling ends
 * Extended form, offset -1: buffer is an array of buffer_size (1 to 64) struct pctally_tru64_profil_args,
 * descending and disjoint, scale_or_flags is 0. Each counts pcs from lowpc up to highpc by 32-bit counters:
 * counter (pc - offset) * scale / 65536 / 4. Its buffer must hold the counter of the last pc. The last call
 * wins, whatever its form; profil(0, 0, 0, 0) ends either. There is no result: a call that is wrong is
 * ignored and sets errno to EINVAL, EFAULT, EAGAIN or ENOMEM. */
void pctally_tru64_profil(void *buffer, long buffer_size, long offset, unsigned long scale_or_flags);

struct pctally_tru64_monitor_args {
  void *lowpc;
  void *highpc; /* the first pc behind the range */
  unsigned int *buffer;
  size_t bufsiz; /* bytes */
};

/* monitor(3). Traditional form: profiles [lowpc, highpc) by this profil and writes mon.out at the end.
 *   buffer, bufsize  16-bit counters, in bytes; cleared by the call
 *   the last one     not used
 * Extended form, highpc 0 or lowpc -1: buffer is an array of bufsize (1 to 64) struct
 * pctally_tru64_monitor_args, descending and disjoint. Their counters are cleared; each stands for 4 bytes of
 * code, or for the smallest multiple of that by a power of two for which there is room. The file is gmon.out.
 * A lowpc of 0 ends either form and writes the file. PROFDIR names the file: unset, the usual name in the
 * current directory; empty, no file; otherwise PROFDIR/pid.program.
 * Returns 0, in the extended form bufsize. An error sets errno: EINVAL and EFAULT, and nothing has changed;
 * EAGAIN and ENOMEM, and nothing is on any more. The result is -1 then, or in the extended form the index of
 * the range that is wrong. */
int pctally_tru64_monitor(long lowpc, long highpc, void *buffer, long bufsize, long not_used);

/* monstartup(3). Profiles [lowpc, highpc) with counters of its own: 32 bits for every 4 bytes of code. With
 * two zeros it profiles all code of the program and its libraries, 64 ranges at most; each library has a file
 * with its name behind a dot, and -2, -3 behind that for more libraries of the same name. monitor(0) writes
 * gmon.out; so does the end of the process. Returns 0, or -1 with errno: EINVAL, EAGAIN, ENOMEM. */
int pctally_tru64_monstartup(void *lowpc, void *highpc);
/* moncontrol(3). Mode 0 halts the profile, any other mode resumes it. Does nothing without one. Returns 1 if
 * it was on before, 0 if not, -1 with errno if it cannot be resumed. */
int pctally_tru64_moncontrol(int mode);

#ifdef __cplusplus
}
#endif

#endif
