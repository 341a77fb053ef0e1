/* aix.h - profil(), monitor(), monstartup() and moncontrol() of AIX. Manual page: pctally-aix(3).
 *
 * Profiling samples the program counter of the whole process, all threads, once per 10 ms of CPU time, and
 * raises the counter that stands for it. Counters are changed atomically and can be read at any time. When a
 * call that ends or replaces a profile returns, no tick uses the old buffers any more. A buffer that is
 * unmapped or made read-only while it is in use is not written any more; the program does not notice.
 *
 * All functions are thread-safe. A signal handler may call profil, no other one, unless its signal is a
 * fault, SIGSYS or a real-time signal and has interrupted such a call. After fork(2) profiling stays on in
 * both processes; exec(2) ends it. Unmodified sources: cc $(pkg-config --cflags pctally-aix) ...
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
  unsigned int p_scale; /* -1: computed from the sizes of range and buffer */
};

/* profil(). Short form: counts in one range of code, by 16-bit counters that stay at 65535.
 *   buffer, bufsize  the counters, in bytes, all writable: to find out, the call makes every page
 *                    resident and fills the holes of a sparse file. With bufsize 0 the call has no effect,
 *                    unless scale turns profiling off
 *   offset           address of the first byte of code
 *   scale            its low 16 bits: bytes of counters per 65536 bytes of code, 2 to 0xffff; 2: every pc
 *                    from offset on goes to the first counter; 0 and 1 (also 0x10000): profiling ends
 * A pc raises counter ((pc - offset) * scale / 65536 + 1) / 2. Array form, bufsize -1: buffer is an array
 * of struct pctally_aix_prof, ascending by p_high, that ends with a p_high of 0. A first p_high of 0 ends
 * profiling. All memory from the lowest to the highest counter must be writable. Turning on while on, off
 * while off, and off by the other form have no effect and are no errors. Returns 0, or -1 with errno:
 * EFAULT, EINVAL (p_high does not ascend), EAGAIN, ENOMEM. */
int pctally_aix_profil(void *buffer, unsigned int bufsize, unsigned long offset, unsigned int scale);

/* _mondata. prof_type is read when monitor or monstartup start: 1, as for cc -pg, makes them write
 * gmon.out; -1 or 0, as for cc -p, mon.out. The other members are there for sources that name them: no call
 * reads, sets or frees them. */
struct pctally_aix_monglobal {
  int prof_type;
  int profiling;
  char *sbuf;
  int ssiz;
  char *hbuf;
  int hsiz;
  char *ProfBuf;
  int ProfBufSiz;
  unsigned long ProfLoPC;
  unsigned int ProfScale;
  void *cb, *cl, *pnextcounter; /* of call counts */
  char *monstubuf;
};
extern struct pctally_aix_monglobal pctally_aix_mondata;

struct pctally_aix_frag {
  char *p_low;
  char *p_high; /* the first pc behind the range; 0 in the entry that ends the array */
};

/* monitor(). Profiles [low, high) by profil() and writes mon.out at the end.
 *   buffer, bufsize  so many 16-bit counters; cleared by the call
 *   nfunc            not used
 * With bufsize -1, buffer is an array of struct pctally_aix_prof, ascending by p_high, whose p_bufsize
 * counts counters; the file is gmon.out. A low of 0 ends either form and writes the file; so does the end of
 * the process by exit(3), halted by moncontrol() or not: the buffer has to be there until then. PROFDIR names
 * the file: unset, the usual name in the current directory; empty, no file; otherwise PROFDIR/pid.program.
 * Returns 0, or -1 with errno: EINVAL and EFAULT, and nothing has changed; EAGAIN and ENOMEM, and nothing is
 * on any more. */
int pctally_aix_monitor(uintptr_t low, uintptr_t high, void *buffer, int bufsize, int nfunc);

/* monstartup(). Profiles [low, high) with counters of its own: 16 bits for every 2 bytes of code. With a
 * low of -1, high is the address of an array of struct pctally_aix_frag, ascending, or 0 for all code of
 * the program and its libraries; the file is gmon.out then, and each library has one with its name behind a
 * dot, and -2, -3 behind that for more libraries of the same name. monitor(0) writes the file; so does the
 * end of the process. Returns 0, or -1 with errno: EINVAL, EFAULT, EAGAIN, ENOMEM. */
int pctally_aix_monstartup(uintptr_t low, uintptr_t high);
/* moncontrol(). Mode 0 halts the profile, any other mode resumes it. Does nothing without one. Returns 1 if
 * it was on before, 0 if not, -1 with errno if it cannot be resumed. */
int pctally_aix_moncontrol(int mode);

#ifdef __cplusplus
}
#endif

#endif
