#include "probe.h"

#include <string.h>
#include <time.h>

__attribute__((noinline, aligned(4096))) void low_loop(long rounds) {
  for (volatile long i = 0; i < rounds; ++i) {
  }
}

__attribute__((noinline, aligned(4096))) void high_loop(long rounds) {
  for (volatile long i = 0; i < rounds; ++i) {
  }
}

double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

long rounds_of(double seconds) {
  static double per_round = 0;
  if (per_round == 0) {
    double before = cpu_seconds();
    low_loop(20000000);
    per_round = (cpu_seconds() - before) / 20000000;
  }
  return (long)(seconds / per_round);
}

void burn(void (*loop)(long), double seconds) {
  long rounds = rounds_of(0.002);
  double until = cpu_seconds() + seconds;
  while (cpu_seconds() < until) loop(rounds);
}

struct prof region_over(void (*loop)(long), void* cells, size_t bytes) {
  struct prof region = {cells, bytes, (size_t)loop, 0x10000};
  return region;
}

unsigned long sum16(const unsigned short* cells, size_t count) {
  unsigned long sum = 0;
  for (size_t i = 0; i < count; ++i) sum += cells[i];
  return sum;
}

unsigned long sum32(const unsigned int* cells, size_t count) {
  unsigned long sum = 0;
  for (size_t i = 0; i < count; ++i) sum += cells[i];
  return sum;
}

static int try_one(const struct behaviour* list, const char* name) {
  for (; list->name != NULL; ++list)
    if (strcmp(list->name, name) == 0) {
      list->try_it();
      printf("\n");
      return 1;
    }
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);
  rounds_of(1);  // calibrated before any profile is on
  return !(try_one(call_behaviours, argv[1]) || try_one(bin_behaviours, argv[1]) ||
           try_one(rate_behaviours, argv[1]) || try_one(process_behaviours, argv[1]) ||
           try_one(signal_behaviours, argv[1]));
}
