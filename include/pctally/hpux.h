/* hpux.h - profil(2), sprofil(2), monitor(3C) and smonitor(3C) of HP-UX 11i. Manual page: pctally-hpux(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil and sprofil, no other one, unless its
 * signal is a fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling
 * stays on in both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-hpux) ...
 */
#ifndef PCTALLY_HPUX_H
#define PCTALLY_HPUX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct timeval;

/* Flags of sprofil: exactly one, the width of every counter of the call (16, 32, 64 bits). */
enum pctally_hpux_width { PCTALLY_HPUX_USHORT = 1, PCTALLY_HPUX_UINT = 2, PCTALLY_HPUX_UINT64 = 4 };

/* sysconf(_SC_PROFIL_MAX): how many entries a call may have. */
#define PCTALLY_HPUX_PROFIL_MAX 1024

struct pctally_hpux_prof {
  void *pr_base;         /* counters */
  unsigned int pr_size;  /* bytes of them */
  void *pr_offset;       /* first pc */
  unsigned int pr_scale; /* bytes of counters per 65536 bytes of text; 0 and 1: the entry is ignored */
};

/* sprofil(2). Counts in profcnt (0 to 1024) ranges in ascending order of pr_offset that do not overlap. A
 * pc raises the element at byte (pc - pr_offset) * pr_scale / 65536 of pr_base, rounded down to an element,
 * if that is less than pr_size, "unless that would result in overflow". An entry with pr_scale 0 or 1 is
 * ignored. A last entry {pr_offset 0, pr_scale 2} of one element counts every other pc.
 * profcnt 0 ends profiling.
 *   tick   set to the time of a clock tick, unless NULL
 *   flags  one enum pctally_hpux_width
 * Returns 0, or -1 with errno and nothing changed: E2BIG (profcnt below 0 or above 1024), EFAULT (profp or
 * tick), EINVAL (flags; pr_size 0, no multiple of an element, or above 2^46 * pr_scale / 65536; order,
 * overlap, the overflow entry), EAGAIN or ENOMEM. pr_base is not checked: a tick that cannot write there
 * ends its range. */
int pctally_hpux_sprofil(struct pctally_hpux_prof *profp, int profcnt, struct timeval *tick,
                         unsigned int flags);

/* profil(2). Counts in one range of code, by bufsiz bytes of 16-bit counters that stay at 65535. A pc
 * raises the counter at byte (pc - offset) * scale / 65536. Scale 2: every pc from offset on goes to the
 * first counter; 0 and 1: profiling ends. There is no result: errno is set to EAGAIN or ENOMEM. */
void pctally_hpux_profil(unsigned short *buff, size_t bufsiz, size_t offset, unsigned int scale);

/* monitor(3C): as pctally_svr4_monitor() in svr4.h, by this profil. Negative sizes count as 0. */
void pctally_hpux_monitor(void (*lowpc)(void), void (*highpc)(void), unsigned short *buffer, int bufsize,
                          int nfunc);

struct pctally_hpux_text_region {
  unsigned long text_start;
  unsigned long text_end; /* the first byte behind */
  char *name;             /* not used */
};

/* smonitor(3C). Profiles ascending, disjoint regions by sprofil and writes gmon.out at the end.
 *   regions, nregions  1 to 1024 of them
 *   buffer, bufsize    bytes, aligned to an element; cleared by the call. The counters of the regions
 *                      follow each other in it: one for every 2, 4 or 8 bytes of code (by the flag), or for
 *                      the smallest multiple of that by a power of two for which there is room
 *   nfunc              not used
 *   flags              one enum pctally_hpux_width
 * smonitor(0, 0, 0, 0, 0, 0) ends it and writes the file. PROFDIR names the file: unset, the usual name in
 * the current directory; empty, no file; otherwise PROFDIR/pid.program. Regions of a library go to a file
 * of their own, with the library's name behind a dot, and -2, -3 behind that for more of the same name. There
 * is no result: a call that is wrong is ignored and sets errno to E2BIG, EINVAL or EFAULT. With errno EAGAIN
 * or ENOMEM nothing is on any more. */
void pctally_hpux_smonitor(const struct pctally_hpux_text_region *regions, int nregions, void *buffer,
                           size_t bufsize, int nfunc, unsigned int flags);

#ifdef __cplusplus
}
#endif

#endif
