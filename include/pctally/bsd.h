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
 * PCTALLY_BSD_PROFIL=macos in the environment every call fails with EINVAL, as it does on macOS. */
int pctally_bsd_profil(char *samples, size_t size, unsigned long offset, unsigned int scale);

#ifdef __cplusplus
}
#endif

#endif
