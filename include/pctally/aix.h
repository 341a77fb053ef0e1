/* aix.h - the profil() of AIX, both forms.
 *
 * The program's own text is sampled every clock tick of CPU time, all threads together, until the call that
 * ends it. Unmodified sources: -isystem .../pctally/compat/aix. Thread-safe, not async-signal-safe. Profiling
 * remains on in both processes after fork(2) and ends with exec(2). A buffer that is unmapped or
 * write-protected while it is in use is left alone from then on.
 */
#ifndef PCTALLY_AIX_H
#define PCTALLY_AIX_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pctally_aix_prof {
  char *p_low;
  char *p_high; /* the first pc behind the range; 0 in the entry that ends the array */
  unsigned short *p_buff;
  int p_bufsize;        /* bytes */
  unsigned int p_scale; /* -1: from the sizes of range and buffer */
};

/* One range, 16-bit counters that stay at 65535, the low 16 bits of scale; 2: every pc from offset on in the
 * first counter; 0 and 1 end it. With bufsize -1, buffer is an array of struct pctally_aix_prof by ascending
 * p_high; a first p_high of 0 ends it. Turning on while on, off while off, and off by the other form have no
 * effect. Returns 0, or -1 with errno: EFAULT, EINVAL (p_high not ascending), EAGAIN, ENOMEM. */
int pctally_aix_profil(void *buffer, unsigned int bufsize, unsigned long offset, unsigned int scale);

/* _mondata: prof_type 1, as for cc -pg, makes monitor and monstartup write gmon.out; -1 or 0, as for cc -p,
 * mon.out. Read when they start; the other members are not used. */
struct pctally_aix_monglobal {
  unsigned short *ProfBuf;
  int ProfBufSiz;
  char *ProfLoPC;
  unsigned int ProfScale;
  int prof_type;
};
extern struct pctally_aix_monglobal pctally_aix_mondata;

struct pctally_aix_frag {
  char *p_low;
  char *p_high; /* the first pc behind the range; 0 in the entry that ends the array */
};

/* monitor(): profil over [low, high) with a buffer of `bufsize` counters, which is cleared; the file is
 * mon.out. With bufsize -1, buffer is an array of struct pctally_aix_prof by ascending p_high, where
 * p_bufsize counts counters; the file is gmon.out. A low of 0 ends either and writes, by PROFDIR: unset, in
 * the current directory; empty, no file; else PROFDIR/pid.program. nfunc is not used. Returns 0, or -1 with
 * errno and nothing changed: EINVAL, EFAULT, EAGAIN, ENOMEM. */
int pctally_aix_monitor(uintptr_t low, uintptr_t high, void *buffer, int bufsize, int nfunc);

/* Profiles [low, high) with counters of its own, 16 bits for every 2 bytes of text. A low of -1: high is the
 * address of an array of struct pctally_aix_frag, ascending, or 0 for all text of the program and its
 * libraries; the file is gmon.out then, and one with a library's name behind a dot for each library. Written
 * by monitor(0) or when the process ends. Returns 0, or -1 with errno: EINVAL, EFAULT, EAGAIN, ENOMEM. */
int pctally_aix_monstartup(uintptr_t low, uintptr_t high);
/* 0 halts the profile, any other mode goes on with it; without one nothing happens. Returns 1 if it was on
 * before, 0 if not, -1 with errno if it cannot go on. */
int pctally_aix_moncontrol(int mode);

#ifdef __cplusplus
}
#endif

#endif
