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

/* One range, 16-bit counters. Scale 2: every pc from offset on in the first counter; 0 and 1 end it. A tick
 * that would carry a counter past 32767 ends it too. offset is as wide as an address of this machine. Returns
 * 0, or -1 with errno EAGAIN or ENOMEM where this machine has no timer left. */
int pctally_svr4_profil(unsigned short *buff, unsigned int bufsiz, size_t offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#endif
