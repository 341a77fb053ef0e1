// One behaviour of profil(3) and sprofil(3), tried once in a process of its own and printed
// as "name=value" words.
//
// Built with the C library's headers alone: the same binary is answered by the C library, and by
// libpctally-glibc.so when that is preloaded. Linked without PIE, so that the addresses are the small ones
// old programs have.
#ifndef PROBE_H
#define PROBE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/profil.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

// Text to find: `low_loop` lies below `high_loop`, neither is longer than 100 bytes, and the regions cover
// 256 of each.
void low_loop(long rounds);
void high_loop(long rounds);
enum { kRegionBytes = 256, kFunctionBytes = 100 };

struct behaviour {
  const char* name;
  void (*try_it)(void);
};
extern const struct behaviour call_behaviours[], bin_behaviours[], rate_behaviours[], process_behaviours[],
    signal_behaviours[];

// CPU seconds of the process.
double cpu_seconds(void);

// Burns so much CPU time of the process inside the function, about 2 ms at a time.
void burn(void (*loop)(long), double seconds);

// Rounds of a loop that take about so long.
long rounds_of(double seconds);

// A region over the 256 bytes from the function's start, one counter for as many bytes as a counter has.
struct prof region_over(void (*loop)(long), void* cells, size_t bytes);

unsigned long sum16(const unsigned short* cells, size_t count);
unsigned long sum32(const unsigned int* cells, size_t count);

#endif
