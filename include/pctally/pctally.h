/* pctally.h - record where this process spends its CPU time. Plain C99; link with -lpctally.
 *
 *   struct pctally_options options = PCTALLY_OPTIONS_INIT;
 *   if (pctally_start(&options) != 0) fprintf(stderr, "%s\n", pctally_error());
 *   ... work ...
 *   pctally_stop();                      then: pctally report pctally.<comm>.<pid>.pct
 *
 * The whole process is recorded: all threads, those running already and those to come, and every library.
 * There is one recording per process at a time. It ends with pctally_stop(), or with the process; a file
 * whose process was killed stays readable. After fork(2) the recording goes on in
 * the parent alone; exec(2) ends it.
 *
 * All functions may be called from any thread. Unless said otherwise they are not async-signal-safe.
 */
#ifndef PCTALLY_PCTALLY_H
#define PCTALLY_PCTALLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of struct pctally_options. */
enum pctally_flag {
  PCTALLY_OVERWRITE = 1,    /* replace an existing profile, or empty file */
  PCTALLY_NO_TIMER = 2,     /* no engine: only pctally_count() delivers ticks */
  PCTALLY_FIXED_PERIOD = 4, /* exactly period_ns; the shares of a program in step with it are then wrong */
  PCTALLY_CALLERS = 8       /* keep call paths: who called it. x86-64, aarch64; glibc 2.35; timer or trap */
};

struct pctally_options {
  size_t size;        /* sizeof(struct pctally_options) */
  const char *path;   /* profile file; NULL: pctally.<comm>.<pid>.pct in the current directory */
  uint64_t period_ns; /* CPU time per tick, 10000 (10 us) to 10^10 (10 s); 0: 1000000 (1 ms). The period used
                         is drawn within 8 % of it. */
  unsigned flags;     /* enum pctally_flag, or-ed */
  const char *engine; /* "timer": a CPU-time timer per thread on a free real-time signal; it works
                         anywhere, and its signals come with the kernel's tick. "trap": a perf event and
                         SIGTRAP per thread; exactly the period, user mode only, needs perf_event_open(2) and
                         Linux 6.1. "manual": as PCTALLY_NO_TIMER. NULL: what PCTALLY_ENGINE in the
                         environment names if it works here, else "timer". */
  size_t path_bytes;  /* bound of each of the two trees of call paths, 65536 to 25165824 (24 MiB); 0: 8 MiB.
                         Nothing is pruned: paths that come when the tree is full are folded into the part of
                         them that is there, which the report states. Totals have a tree of their own. */
};

#define PCTALLY_OPTIONS_INIT \
  { sizeof(struct pctally_options), 0, 0, 0, 0, 0 }

/* Where every tick went: ticks = counted + outside + full + lost. */
struct pctally_tick_ledger {
  uint64_t ticks;
  uint64_t counted; /* in the histogram */
  uint64_t outside; /* the program counter lay in no executable memory */
  uint64_t full;    /* no room was left in the file */
  uint64_t lost;    /* known to have been dropped */
  uint64_t samples; /* deliveries; one may weigh several ticks */
};

/* Starts a recording. NULL means PCTALLY_OPTIONS_INIT.
 * Returns 0, or -1 with errno: EBUSY (one is running; a debugger is attached and the engine is "trap"),
 * EINVAL (size, period, flags or engine; PCTALLY_CALLERS where the machine or the engine has no paths),
 * EEXIST (the file exists and PCTALLY_OVERWRITE is not given), ENOSPC/EDQUOT/EFBIG (no room for the file:
 * disk, quota, ulimit -f), EAGAIN (no timer or signal left; SIGTRAP is blocked and the engine is "trap"),
 * ENOMEM (no memory; with PCTALLY_CALLERS also ulimit -v below 512 MiB),
 * EACCES/EPERM/ENOSYS/EMFILE ("trap" was asked for and perf_event_open(2) is refused), or what open(2) says.
 * Nothing is left behind. SIGPROF is never used. */
int pctally_start(const struct pctally_options *options);

/* Ends the recording; no tick is counted after the return. Returns 0, or -1 with errno: ESRCH (none is
 * running), EIO (somebody else has cut the file meanwhile: its ticks are gone), EBADF (the program has closed
 * the file's descriptor: the profile is complete, but not cut to its used size), or that of a failed cut of
 * the file to its used size (the file is complete nevertheless). */
int pctally_stop(void);

/* Delivers one tick of `weight` at `pc` by hand, by the same path as a clock tick: for event sources of your
 * own, and for tests. It goes to the recording and to every dialect's profile that is on. Async-signal-safe.
 * Returns 0, or -1 with errno: EINVAL (weight 0), ESRCH (no recording and no dialect's profile). A pc outside
 * all executable memory is not an error: it is counted as outside. With PCTALLY_CALLERS its path is a cut
 * ("by-hand"): nobody says what the stack was. */
int pctally_count(const void *pc, uint64_t weight);

/* Reads the process's mappings again, so that libraries loaded since are counted in the tick itself. Not
 * needed for completeness: ticks in unknown code are put aside and looked up by pctally_ledger() and
 * pctally_stop(); only more than 1024 of them between two such calls become "outside". With PCTALLY_CALLERS
 * code loaded since ends a call path until then. Threads that made no timer of their own since (by the bare
 * clone(2), or where dlopen(3) brought this library) get one, as by pctally_ledger(). Returns 0, or -1 with
 * errno ESRCH (no recording) or ENOMEM. */
int pctally_refresh(void);

/* The account so far. Returns 0, or -1 with errno: EINVAL (NULL), ESRCH (no recording was ever started).
 * After pctally_stop() it is the final one. */
int pctally_ledger(struct pctally_tick_ledger *ledger);

/* The account of the profile that a system's profil() keeps, since it was last turned on; final after the
 * call that turned it off. system is the name of its header: "hpux", "svr4", "bsd", "tru64", "aix", "n64",
 * "irix" or "glibc". counted is in the program's counters (a 16-bit counter that wraps shows 65536 less
 * each time); outside lay in no range; full found a counter at
 * its limit; lost found its memory gone or read-only. Returns 0, or -1 with errno: EINVAL (NULL), ESRCH (that
 * system's profile was never on). */
int pctally_profil_ledger(const char *system, struct pctally_tick_ledger *ledger);

/* The engine that delivers the ticks of the recording, running or last: "timer", "trap"
 * or "manual". Before the first recording: that of the dialects' call (pctally/hpux.h and so
 * on) that turned a profile on last; "" if none did. Never NULL. */
const char *pctally_engine(void);

/* What went wrong in this thread's last failing call and what to do about it, in one line. Never NULL. */
const char *pctally_error(void);

/* "0.1.0" */
const char *pctally_version(void);

#ifdef __cplusplus
}
#endif

#endif
