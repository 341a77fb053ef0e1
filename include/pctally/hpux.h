/* hpux.h - the profil(2) and sprofil(2) of HP-UX 11i.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/hpux. Thread-safe, not async-signal-safe.
 * Profiling remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_HPUX_H
#define PCTALLY_HPUX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timeval;

/* One flag; the width of every counter of the call. */
enum pctally_hpux_width { PCTALLY_HPUX_USHORT = 1, PCTALLY_HPUX_UINT = 2, PCTALLY_HPUX_UINT64 = 4 };

/* sysconf(_SC_PROFIL_MAX): how many entries a call may have. */
#define PCTALLY_HPUX_PROFIL_MAX 1024

struct pctally_hpux_prof {
  void *pr_base;         /* counters */
  unsigned int pr_size;  /* bytes of them */
  void *pr_offset;       /* first pc */
  unsigned int pr_scale; /* bytes of counters per 65536 bytes of text; 0 and 1: the entry is ignored */
};

/* Counts by `profcnt` entries in ascending order; 0 ends it. A last entry with pr_offset 0 and pr_scale 2 has
 * one counter for every other pc. *tick is set to the clock tick. Counters stay at their largest value.
 * Returns 0, or -1 with errno and nothing changed: E2BIG, EFAULT, EINVAL, or EAGAIN and ENOMEM of this
 * machine. */
int pctally_hpux_sprofil(struct pctally_hpux_prof *profp, int profcnt, struct timeval *tick,
                         unsigned int flags);

/* One range, 16-bit counters. Scale 2: every pc from offset on in the first counter; 0 and 1 end it. */
void pctally_hpux_profil(unsigned short *buff, size_t bufsiz, size_t offset, unsigned int scale);

/* monitor(3C): profil over [lowpc, highpc), and the file mon.out when it ends. As pctally_svr4_monitor in
 * all. */
void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void), unsigned short *buffer, int bufsize,
                          int nfunc);

struct pctally_hpux_text_region {
  unsigned long text_start;
  unsigned long text_end; /* the first byte behind */
  char *name;             /* not looked at */
};

/* smonitor(3C): sprofil over ascending, disjoint regions, and the file gmon.out when it ends. The buffer of
 * `bufsize` bytes, aligned to a counter, is cleared; the counters of the regions follow each other in it, one
 * for every 2, 4 or 8 bytes of text (by the flag, as in pctally_hpux_sprofil) or the smallest multiple by a
 * power of two for which it is large enough. nfunc is not used. smonitor(0, 0, 0, 0, 0, 0) ends it and
 * writes, by PROFDIR: unset, gmon.out in the current directory; empty, no file; else PROFDIR/pid.program.
 * Regions of a library go to a file of its own, with the library's name behind a dot. No result: errno is set
 * to E2BIG, EINVAL, EFAULT, EAGAIN or ENOMEM for a call that was ignored. */
void pctally_hpux_smonitor(const struct pctally_hpux_text_region *regions, int nregions, void *buffer,
                           size_t bufsize, int nfunc, unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
