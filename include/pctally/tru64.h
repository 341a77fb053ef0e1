/* tru64.h - the profil(2) of Tru64 UNIX, both forms.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/tru64. Thread-safe, not async-signal-safe.
 * Profiling remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
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

/* getsysinfo(GSI_CLK_TCK). */
#define PCTALLY_TRU64_CLK_TCK 1024

/* Classic form: one range, 16-bit counters; scale 2: every pc from offset on in the first counter; 0 and 1
 * end it. Extended form, offset -1: buffer is an array of buffer_size (1 to 64) struct
 * pctally_tru64_profil_args by decreasing lowpc, scale_or_flags is 0. The last call wins, whatever its form;
 * profil(0, 0, 0, 0) ends either. There is no result: errno is set to EINVAL, EFAULT, EAGAIN or ENOMEM for a
 * call that was ignored. */
void pctally_tru64_profil(void *buffer, long buffer_size, long offset, unsigned long scale_or_flags);

struct pctally_tru64_monitor_args {
  void *lowpc;
  void *highpc; /* the first pc behind the range */
  unsigned int *buffer;
  unsigned int bufsize; /* counters */
};

/* Traditional form: as pctally_svr4_monitor, over this profil. Extended form, lowpc -1: buffer is an array of
 * bufsize (1 to 64) struct pctally_tru64_monitor_args by decreasing lowpc, nfunc_or_flags is 0; their
 * counters are cleared, each stands for 4 bytes of text or the smallest multiple by a power of two for which
 * there are enough, and the file is gmon.out. A lowpc of 0 ends either and writes, by PROFDIR: unset, in the
 * current directory; empty, no file; else PROFDIR/pid.program. No result: errno is set to EINVAL, EFAULT,
 * EAGAIN or ENOMEM for a call that was ignored. */
void pctally_tru64_monitor(long lowpc, long highpc, void *buffer, long bufsize, long nfunc_or_flags);

/* Profiles [lowpc, highpc) with counters of its own, 32 bits for every 4 bytes of text; gmon.out is written
 * by monitor(0) or when the process ends. errno as above. */
void pctally_tru64_monstartup(void *lowpc, void *highpc);
/* 0 halts the profile, any other mode goes on with it; without one nothing happens. */
void pctally_tru64_moncontrol(int mode);

#ifdef __cplusplus
}
#endif

#endif
