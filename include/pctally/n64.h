/* pctally/n64.h - the Nintendo 64's execution time profile, osProfile(3P), on Linux. Plain
 * C99; link with -lpctally.
 *
 *   static uint16_t counters[WORDS];
 *   struct pctally_n64_prof segment = {counters, WORDS, (uint32_t *)text_start, (uint32_t *)text_end};
 *   osProfileInit(&segment, 1);
 *   osProfileStart(10000);
 *   ... work ...
 *   osProfileStop();                     at any time, from a shell: pctally gperf a.out
 *
 * Sources written for the console include <ultra64.h> from pctally/compat/n64/
 * instead. pctally-n64(3) has the rules.
 *
 * All functions may be called from any thread; none is async-signal-safe.
 */
#ifndef PCTALLY_N64_H
#define PCTALLY_N64_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One segment of text. There is one counter for each 32-bit word of it: a program counter pc with
 * text_start <= pc < text_end raises histo_base[(pc - text_start) / 4]. Pointers are this machine's own. */
struct pctally_n64_prof {
  uint16_t *histo_base; /* the counters; 32-bit aligned; they wrap from 65535 to 0 */
  uint32_t histo_size;  /* how many there are; never more than these are touched */
  uint32_t *text_start; /* first instruction */
  uint32_t *text_end;   /* where the segment ends: the first byte behind it */
};

/* The shortest period, in microseconds. */
#define PCTALLY_N64_MIN_INTERVAL 50

/* The codes that the error handler gets. */
enum pctally_n64_error {
  PCTALLY_N64_INIT_STR = 61,   /* the profile is running */
  PCTALLY_N64_INIT_CNT = 62,   /* profcnt is 0 or above 4096, or its entries cannot be read */
  PCTALLY_N64_INIT_ALN = 63,   /* histo_base is not 32-bit aligned */
  PCTALLY_N64_INIT_ORD = 64,   /* text_start >= text_end */
  PCTALLY_N64_INIT_SIZ = 65,   /* histo_size is too small, or more than can be written */
  PCTALLY_N64_START_TIME = 66, /* the period is too short */
  PCTALLY_N64_START_FLAG = 67, /* the profile is running already */
  PCTALLY_N64_STOP_FLAG = 68,  /* the profile is not running */
  PCTALLY_N64_STOP_TIMER = 69  /* it ran, but no timer could be had for it */
};

/* Names the segments, clears their counters and the overflow counter, and starts the I/O thread, in which all
 * signals are blocked, unless it runs already. The list is copied. On an error nothing changes. */
void osProfileInit(struct pctally_n64_prof *profp, uint32_t profcnt);

/* Starts or resumes counting: one tick per `microseconds` of the CPU time of the process, all threads; of
 * user mode alone where that is shorter than the kernel's own tick and perf_event_open(2) is allowed. */
void osProfileStart(uint32_t microseconds);

/* Stops counting. No counter changes after the return; the I/O thread goes on serving. */
void osProfileStop(void);

/* Sends the counters to a gperf in server mode. Returns when it has them, after two seconds in any case, and
 * at once if there is none. */
void osProfileFlush(void);

/* A handler gets the error's number, the number of arguments of its message, and those: int for %d, void *
 * for %x. */
typedef void (*pctally_n64_error_handler)(int16_t code, int16_t count, ...);

/* Sets the handler for errors, and returns the one before. The first prints a line to standard error; a null
 * pointer brings it back. */
pctally_n64_error_handler osSetErrorHandler(pctally_n64_error_handler handler);

#ifdef __cplusplus
}
#endif

#endif
